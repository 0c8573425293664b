import Primitives

/// A payload type of an audio m-line that we understand.
struct AudioFormat: Equatable {
    enum Kind: Hashable {
        case codec(AudioCodec)
        case telephoneEvent(clockRate: Int)
        case comfortNoise

        /// `a=rtpmap` without the number.
        var encoding: String {
            switch self {
            case .codec(.opus): "opus/48000/2"
            case .codec(let codec): "\(codec.name)/\(codec.clockRate)"
            case .telephoneEvent(let clockRate): "telephone-event/\(clockRate)"
            case .comfortNoise: "CN/8000"
            }
        }

        /// What we call it in our first offer; nil: the number that RFC 3551 gives.
        var usualNumber: UInt8 {
            switch self {
            case .codec(let codec): codec.staticPayloadType ?? 111
            case .telephoneEvent(let clockRate): clockRate == 8_000 ? 101 : 110
            case .comfortNoise: 13
            }
        }
    }

    var number: UInt8
    var kind: Kind

    /// `a=fmtp` of the peer; nil if there is none.
    var parameters: String?
}

extension AudioFormat.Kind {
    /// From `NAME/CLOCK[/CHANNELS]`, names in any case; nil if it is none of ours.
    init?(encoding: OctetText) {
        guard let (name, numbers) = encoding.trimmed.cut(at: 0x2F) else { return nil }
        let (clock, channels) = numbers.cut(at: 0x2F) ?? (numbers, OctetText("1"))
        guard let clockRate = clock.decimal, !channels.contains(0x2F) else { return nil }
        let isMono = channels.decimal == 1
        if name.matches("telephone-event"), isMono, clockRate == 8_000 || clockRate == 48_000 {
            self = .telephoneEvent(clockRate: clockRate)
        } else if name.matches("cn"), isMono, clockRate == 8_000 {
            self = .comfortNoise
        } else if name.matches("opus"), clockRate == 48_000 {
            self = .codec(.opus)
        } else if name.matches("g722"), isMono, clockRate == 8_000 || clockRate == 16_000 {
            self = .codec(.g722)  // 16000 is a common mistake; the clock on the wire is 8000 all the same.
        } else if name.matches("pcma"), isMono, clockRate == 8_000 {
            self = .codec(.pcma)
        } else if name.matches("pcmu"), isMono, clockRate == 8_000 {
            self = .codec(.pcmu)
        } else {
            return nil
        }
    }

    /// From a number of RFC 3551 that was not mapped.
    init?(staticNumber number: UInt8) {
        if let codec = AudioCodec(staticPayloadType: number) {
            self = .codec(codec)
        } else if number == 13 {
            self = .comfortNoise
        } else {
            return nil
        }
    }
}

extension MediaDescription {
    /// The formats that we understand, in the order of the m-line. A number that is not mapped here means what `known`
    /// says (peers leave `a=rtpmap` out of answers), otherwise what RFC 3551 says. A malformed attribute is ignored.
    func audioFormats(known: [UInt8: AudioFormat.Kind] = [:]) -> [AudioFormat] {
        var mapped: [UInt8: AudioFormat.Kind?] = [:]
        var parameters: [UInt8: String] = [:]
        for attribute in attributes {
            let isMap = attribute.nameText.matches("rtpmap")
            guard isMap || attribute.nameText.matches("fmtp"), let (word, rest) = attribute.valueText?.cut(at: 0x20),
                let number = UInt8(exactly: word.decimal ?? -1)
            else { continue }
            if !isMap {
                parameters[number] = rest.trimmed.string
            } else if rest.contains(0x2F) {
                mapped[number] = .some(AudioFormat.Kind(encoding: rest))
            }
        }
        var formats: [AudioFormat] = []
        var seen: Set<UInt8> = []
        for format in self.formats {
            guard let number = UInt8(format), number < 128, seen.insert(number).inserted else { continue }
            let kind = mapped[number] ?? known[number] ?? AudioFormat.Kind(staticNumber: number)
            if let kind { formats.append(AudioFormat(number: number, kind: kind, parameters: parameters[number])) }
        }
        return formats
    }
}
