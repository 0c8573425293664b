package import SIP

/// A phone that is kept an eye on, and the account through which its server is asked.
package struct WatchedPhone: Hashable, Sendable {
    package var account: String
    package var uri: SIPURI

    package init(account: String, uri: SIPURI) {
        self.account = account
        self.uri = uri
    }
}

/// What a watched phone does.
package enum PhoneState: String, Sendable { case idle, ringing, busy }

/// The dialogs of a phone as its server told them, full or in parts (RFC 4235 §4.1).
struct PhoneDialogs {
    private var dialogs: [String: DialogInformation.Dialog] = [:]
    private var version: UInt32?

    /// Takes a document in; one that is older than the last is passed over.
    mutating func take(_ information: DialogInformation) {
        if let version, information.version < version { return }
        version = information.version
        if information.isFull { dialogs = [:] }
        for dialog in information.dialogs {
            if dialog.state == .terminated {
                dialogs[dialog.id] = nil
            } else if dialogs.count < DialogInformation.dialogLimit || dialogs[dialog.id] != nil {
                dialogs[dialog.id] = dialog
            }
        }
    }

    /// A call that rings there is shown before one that is talked in: it can still be answered.
    var state: PhoneState {
        if dialogs.values.contains(where: { $0.state != .confirmed && $0.direction != .initiator }) { return .ringing }
        return dialogs.isEmpty ? .idle : .busy
    }
}
