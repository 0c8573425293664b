import Primitives

/// What a phone does, as its server tells those who subscribed to its dialogs (RFC 4235).
package struct DialogInformation: Equatable, Sendable {
    package static let contentType = "application/dialog-info+xml"
    /// Dialogs of one document; more are left out (SEC12).
    package static let dialogLimit = 32

    package struct Dialog: Equatable, Sendable {
        /// Who began it.
        package enum Direction: String, Sendable { case initiator, recipient }
        package enum State: String, Sendable { case trying, proceeding, early, confirmed, terminated }
        package var id: String
        /// Nil if the document does not say.
        package var direction: Direction?
        package var state: State

        package init(id: String, direction: Direction?, state: State) {
            self.id = id
            self.direction = direction
            self.state = state
        }
    }

    /// Rises with each document of a subscription; 0 if it is missing.
    package var version: UInt32
    /// Whether the dialogs are all that there are, or only those that changed.
    package var isFull: Bool
    package var dialogs: [Dialog]

    /// Reads a document of the media type above.
    package init(_ octets: [UInt8]) throws(ParseError) {
        var reader = try XMLReader(octets)
        guard case .start("dialog-info", let attributes) = try reader.next() else {
            throw ParseError("document is no dialog-info")
        }
        version = attributes["version"].flatMap { UInt32($0) } ?? 0
        isFull = attributes["state"] != "partial"
        dialogs = []
        var dialog: (id: String, direction: Dialog.Direction?, state: Dialog.State?)?
        var path = ["dialog-info"]
        while let token = try reader.next() {
            switch token {
            case .start(let name, let attributes):
                path.append(name)
                if path == ["dialog-info", "dialog"] {
                    dialog = (
                        attributes["id"] ?? "", attributes["direction"].flatMap { Dialog.Direction(rawValue: $0) }, nil
                    )
                }
            case .text(let text):
                guard path == ["dialog-info", "dialog", "state"] else { break }
                let word = text.filter { !$0.isWhitespace }
                if !word.isEmpty { dialog?.state = Dialog.State(rawValue: word) }
            case .end:
                if path == ["dialog-info", "dialog"], let ended = dialog {
                    dialog = nil
                    if let state = ended.state, dialogs.count < Self.dialogLimit {
                        dialogs.append(Dialog(id: ended.id, direction: ended.direction, state: state))
                    }
                }
                path.removeLast()
            }
        }
    }
}
