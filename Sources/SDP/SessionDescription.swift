package import Primitives

/// A session description (RFC 8866), as far as a call needs it. Lines that nothing here reads (`b=`, `k=`, `i=`…)
/// are dropped in parsing.
package struct SessionDescription: Equatable, Sendable {
    /// `o=`; nil if absent or malformed, which is tolerated.
    package var origin: Origin?
    /// `c=` of the session level.
    package var connection: Connection?
    /// Attributes before the first m-line.
    package var attributes: [Attribute] = []
    package var media: [MediaDescription] = []

    package init(
        origin: Origin? = nil, connection: Connection? = nil, attributes: [Attribute] = [],
        media: [MediaDescription] = []
    ) {
        self.origin = origin
        self.connection = connection
        self.attributes = attributes
        self.media = media
    }

    /// Octets of a description, more than which are not read (S10).
    package static let sizeLimit = 64 * 1024
    /// m-lines, more than which are not read (S10).
    package static let mediaLimit = 16
    /// Attributes of one m-line, or of the session level, more than which are not read (S10).
    package static let attributeLimit = 256
    /// Formats of one m-line, more than which are not read (S10).
    package static let formatLimit = 128

    /// `o=`: who made the description, and how often it changed.
    package struct Origin: Equatable, Sendable {
        package var username: String
        package var identity: String
        /// Rises by one with each change of the description and only then (S1).
        package var version: String
        package var address: IPAddress?

        package init(username: String = "-", identity: String, version: String, address: IPAddress?) {
            self.username = username
            self.identity = identity
            self.version = version
            self.address = address
        }
    }

    /// `c=`: where media is received.
    package enum Connection: Equatable, Sendable {
        case address(IPAddress)
        /// A name that has to be resolved, and the family that the line said.
        case name(String, isV6: Bool)
    }

    /// `a=name` or `a=name:value`.
    package struct Attribute: Equatable, Sendable {
        let nameText: OctetText
        let valueText: OctetText?

        package var name: String { nameText.string }
        package var value: String? { valueText?.string }

        package init(_ name: String, _ value: String? = nil) {
            nameText = OctetText(name)
            valueText = value.map { OctetText($0) }
        }
    }

    /// The text with CRLF line ends; `s=-` and `t=0 0` as RFC 3264 §5 wants.
    package var octets: [UInt8] {
        var text = "v=0\r\n"
        if let origin {
            let address = origin.address ?? .anyV4
            text += "o=\(origin.username) \(origin.identity) \(origin.version) IN \(Self.network(address))\r\n"
        }
        text += "s=-\r\n"
        text += connection.map(Self.line) ?? ""
        text += "t=0 0\r\n"
        for attribute in attributes { text += attribute.line }
        for part in media {
            let formats = part.formats.joined(separator: " ")
            text += "m=\(part.kind) \(part.port) \(part.transport) \(formats)\r\n"
            text += part.connection.map(Self.line) ?? ""
            for attribute in part.attributes { text += attribute.line }
        }
        return Array(text.utf8)
    }

    private static func network(_ address: IPAddress) -> String {
        (address.isV6 ? "IP6 " : "IP4 ") + address.description
    }

    private static func line(_ connection: Connection) -> String {
        switch connection {
        case .address(let address): "c=IN \(network(address))\r\n"
        case .name(let name, let isV6): "c=IN \(isV6 ? "IP6" : "IP4") \(name)\r\n"
        }
    }
}

extension SessionDescription.Attribute {
    fileprivate var line: String { value.map { "a=\(name):\($0)\r\n" } ?? "a=\(name)\r\n" }
}

/// One m-line with what belongs to it.
package struct MediaDescription: Equatable, Sendable {
    /// `audio`, `video`, `application`…
    package var kind: String
    /// 0: refused or ended.
    package var port: UInt16
    /// `RTP/AVP`, `RTP/AVPF`, `RTP/SAVP`… as written.
    package var transport: String
    /// Payload type numbers for RTP, in order of preference; other words for other transports. Not empty.
    package var formats: [String]
    /// Overrides the session level.
    package var connection: SessionDescription.Connection?
    package var attributes: [SessionDescription.Attribute] = []

    package init(
        kind: String, port: UInt16, transport: String, formats: [String],
        connection: SessionDescription.Connection? = nil, attributes: [SessionDescription.Attribute] = []
    ) {
        self.kind = kind
        self.port = port
        self.transport = transport
        self.formats = formats
        self.connection = connection
        self.attributes = attributes
    }
}

extension [SessionDescription.Attribute] {
    /// The value of the first attribute with this name; the empty text if it has none.
    package func value(_ name: String) -> String? { text(name)?.string }

    package func has(_ name: String) -> Bool { text(name) != nil }

    func text(_ name: String) -> OctetText? {
        firstIndex { $0.nameText.matches(name) }.map { self[$0].valueText ?? OctetText("") }
    }

    /// The flow that is said here; nil if none is.
    package var direction: MediaDirection? {
        for attribute in self where attribute.valueText == nil {
            if let direction = MediaDirection.allCases.first(where: { attribute.nameText.matches($0.rawValue) }) {
                return direction
            }
        }
        return nil
    }
}
