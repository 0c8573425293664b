internal import API
package import Primitives

/// What makes this device the same one after a restart: its instance id (R1) and the unguessable users of its
/// registered Contacts (SEC2).
package struct Identity: Equatable, Sendable {
    /// `urn:uuid:…`
    package private(set) var instance: String
    private var contactUsers: [String: String] = [:]
    /// Whether anything is new since it was read.
    package private(set) var isChanged = false

    /// Reads a document of `document`; what is missing or damaged is made anew.
    package init(_ octets: [UInt8]?, _ random: inout Randomness) {
        let document = octets.flatMap { try? JSON.parse($0) }
        if let known = document?["instance"]?.string, Self.isInstance(known) {
            instance = known
        } else {
            instance = "urn:uuid:" + Self.uuid(&random)
            isChanged = true
        }
        if case .object(let members) = document?["contacts"] {
            for member in members {
                guard let user = member.value.string, (1...Self.longestUser).contains(user.utf8.count),
                    user.utf8.allSatisfy({ $0.isLetter || $0.isDigit })
                else { continue }
                contactUsers[member.name] = user
            }
        }
    }

    /// Octets; those made here have 16.
    private static let longestUser = 64

    private static func isInstance(_ text: String) -> Bool {
        let prefix = "urn:uuid:"
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        return text.hasPrefix(prefix) && digits.count == 36
            && digits.allSatisfy { $0.hexValue != nil || $0 == UInt8(ascii: "-") }
    }

    /// The random Contact user of an account: at least 64 bits, the same for ever.
    package mutating func contactUser(of account: String, _ random: inout Randomness) -> String {
        if let known = contactUsers[account] { return known }
        let user = random.token(bits: 80)
        contactUsers[account] = user
        isChanged = true
        return user
    }

    package var document: [UInt8] {
        let contacts = contactUsers.sorted { $0.key < $1.key }.map {
            JSON.Member(name: $0.key, value: .string($0.value))
        }
        return Array((JSON.members(["instance": .string(instance), "contacts": .object(contacts)]).text + "\n").utf8)
    }

    package mutating func markSaved() { isChanged = false }

    /// RFC 9562 version 4.
    private static func uuid(_ random: inout Randomness) -> String {
        var octets = random.octets(16)
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        let digits = hexadecimal(octets)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
