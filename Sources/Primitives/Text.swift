extension UInt8 {
    /// `A`–`Z` to lower case, everything else as it is.
    @inlinable package var lowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

    @inlinable package var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    @inlinable package var isLetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }

    /// The value of a hexadecimal digit; nil for any other octet.
    @inlinable package var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}

extension StringProtocol {
    /// `A`–`Z` to lower case, everything else as it is: how domain names are compared.
    package var lowercasedASCII: String { String(decoding: utf8.map(\.lowercased), as: UTF8.self) }
}

/// Lower-case hexadecimal digits of octets.
package func hexadecimal(_ octets: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for octet in octets {
        text.append(digits[Int(octet >> 4)])
        text.append(digits[Int(octet & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// Octets of hexadecimal digits; nil if the text is anything else or of odd length.
package func octets(hexadecimal text: some StringProtocol) -> [UInt8]? {
    var octets: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
        guard let value = character.hexValue else { return nil }
        if let first = high {
            octets.append(first << 4 | value)
            high = nil
        } else {
            high = value
        }
    }
    return high == nil ? octets : nil
}

/// Standard Base64 (RFC 4648 §4) with padding.
package func base64(_ octets: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    var index = 0
    while index < octets.count {
        let left = octets.count - index
        let word =
            UInt32(octets[index]) << 16 | UInt32(left > 1 ? octets[index + 1] : 0) << 8
            | UInt32(left > 2 ? octets[index + 2] : 0)
        text.append(alphabet[Int(word >> 18)])
        text.append(alphabet[Int(word >> 12 & 63)])
        text.append(left > 1 ? alphabet[Int(word >> 6 & 63)] : 0x3D)
        text.append(left > 2 ? alphabet[Int(word & 63)] : 0x3D)
        index += 3
    }
    return String(decoding: text, as: UTF8.self)
}

/// Octets of Base64 text; nil if it is malformed. Padding may be absent.
package func octets(base64 text: some StringProtocol) -> [UInt8]? {
    var octets: [UInt8] = []
    var word: UInt32 = 0
    var bits = 0
    var padding = 0
    for character in text.utf8 {
        let value: UInt8
        switch character {
        case 0x41...0x5A: value = character - 0x41
        case 0x61...0x7A: value = character - 0x47
        case 0x30...0x39: value = character + 4
        case 0x2B: value = 62
        case 0x2F: value = 63
        case 0x3D:
            padding += 1
            continue
        default: return nil
        }
        if padding > 0 { return nil }
        word = word << 6 | UInt32(value)
        bits += 6
        if bits >= 8 {
            bits -= 8
            octets.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
        }
    }
    return padding <= 2 && bits < 6 ? octets : nil
}

/// Whether two octet sequences are equal, in time that depends on their lengths alone.
package func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    var difference: UInt8 = left.count == right.count ? 0 : 1
    for index in 0..<max(left.count, right.count) {
        difference |= (index < left.count ? left[index] : 0) ^ (index < right.count ? right[index] : 0)
    }
    return difference == 0
}

/// The fewest insertions, deletions and replacements that turn one word into another (Levenshtein).
package func editDistance(_ left: some StringProtocol, _ right: some StringProtocol) -> Int {
    let target = Array(right.utf8)
    var row = Array(0...target.count)
    for (index, octet) in left.utf8.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for column in target.indices {
            let replaced = diagonal + (target[column] == octet ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
        }
    }
    return row[target.count]
}
