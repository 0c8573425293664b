/// The two laws of ITU-T G.711. Samples are 16 bits wide, of which A-law uses 13 and µ-law 14.
package enum G711 {
    @inlinable package static func decodeALaw(_ code: UInt8) -> Int16 {
        let bits = Int(code ^ 0x55)
        let segment = bits >> 4 & 7
        let step = (bits & 15) << 4
        let magnitude = segment == 0 ? step + 8 : (step + 0x108) << (segment - 1)
        return Int16(truncatingIfNeeded: bits & 0x80 != 0 ? magnitude : -magnitude)
    }

    @inlinable package static func encodeALaw(_ sample: Int16) -> UInt8 {
        let sign: UInt8 = sample >= 0 ? 0x80 : 0
        let magnitude = Int(sample >= 0 ? sample : ~sample) >> 3
        let code: Int
        if magnitude < 32 {
            code = magnitude >> 1
        } else {
            let segment = Int.bitWidth - magnitude.leadingZeroBitCount - 5
            code = segment << 4 | (magnitude >> segment & 15)
        }
        return (UInt8(truncatingIfNeeded: code) | sign) ^ 0x55
    }

    @inlinable package static func decodeMuLaw(_ code: UInt8) -> Int16 {
        let bits = Int(~code)
        let magnitude = (((bits & 15) << 3) + 0x84) << (bits >> 4 & 7) - 0x84
        return Int16(truncatingIfNeeded: bits & 0x80 != 0 ? -magnitude : magnitude)
    }

    @inlinable package static func encodeMuLaw(_ sample: Int16) -> UInt8 {
        let sign: UInt8 = sample < 0 ? 0x80 : 0
        let magnitude = min(abs(Int(sample)), 32_635) + 0x84
        let segment = Int.bitWidth - magnitude.leadingZeroBitCount - 8
        return ~(UInt8(truncatingIfNeeded: segment << 4 | (magnitude >> (segment + 3) & 15)) | sign)
    }
}
