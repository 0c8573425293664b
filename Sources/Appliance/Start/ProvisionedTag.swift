internal import API
internal import Hashing
internal import Primitives

/// The tag of the provisioned file as a document of its own: it counts for the URL that it came from and for the octets
/// that it came with, and for nothing else.
package enum ProvisionedTag {
    /// The document of a tag.
    package static func write(_ tag: String, url: String, _ octets: [UInt8]) -> [UInt8] {
        let document = JSON.members(["etag": .string(tag), "of": .string(digest(url, octets))])
        return Array((document.text + "\n").utf8)
    }

    /// nil if there is none, or it belongs to something else.
    package static func read(_ document: [UInt8]?, url: String, _ octets: [UInt8]) -> String? {
        guard let document, let value = try? JSON.parse(document), value["of"]?.string == digest(url, octets) else {
            return nil
        }
        return value["etag"]?.string
    }

    /// The URL may hold a password: its digest is kept.
    private static func digest(_ url: String, _ octets: [UInt8]) -> String {
        hexadecimal(Hashes.nettle.sha256(Array(url.utf8) + [0x0A] + octets))
    }
}
