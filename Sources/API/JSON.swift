internal import CJansson
internal import CLinux

/// A JSON value (RFC 8259). Members of an object keep their order.
package indirect enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSON

        package init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// An object from names and values; what is nil is left out.
    package static func members(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    /// A member of an object; nil if there is none.
    package subscript(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    package var integer: Int? { if case .integer(let value) = self { value } else { nil } }

    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Compact text. Numbers that JSON does not have (not finite) become null.
    package var text: String {
        guard let value = handle else { return "null" }
        defer { portero_json_release(value) }
        guard let text = portero_json_text(value) else { return "null" }
        defer { free(text) }
        return String(cString: text)
    }

    /// Reads one value.
    package static func parse(_ octets: [UInt8]) throws(JSONError) -> JSON {
        var error = json_error_t()
        let value = octets.withUnsafeBytes { buffer in
            portero_json_read(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count, &error)
        }
        guard let value else {
            throw JSONError(line: Int(error.line), text: String(cString: portero_json_error_text(&error)))
        }
        defer { portero_json_release(value) }
        return JSON(value)
    }

    private init(_ value: UnsafeMutablePointer<json_t>) {
        switch portero_json_type(value) {
        case JSON_OBJECT:
            var members: [Member] = []
            var place = json_object_iter(value)
            while let current = place {
                if let name = json_object_iter_key(current), let member = json_object_iter_value(current) {
                    members.append(Member(name: String(cString: name), value: JSON(member)))
                }
                place = json_object_iter_next(value, current)
            }
            self = .object(members)
        case JSON_ARRAY:
            self = .array((0..<json_array_size(value)).compactMap { json_array_get(value, $0).map(JSON.init) })
        case JSON_STRING:
            let octets = UnsafeRawBufferPointer(start: json_string_value(value), count: json_string_length(value))
            self = .string(String(decoding: octets, as: UTF8.self))
        case JSON_INTEGER: self = .integer(Int(json_integer_value(value)))
        case JSON_REAL: self = .number(json_real_value(value))
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        default: self = .null
        }
    }

    /// The library's form of the value, owned by the caller; nil where memory is short or a number is not finite.
    private var handle: UnsafeMutablePointer<json_t>? {
        switch self {
        case .null: return json_null()
        case .bool(let value): return value ? json_true() : json_false()
        case .integer(let value): return json_integer(json_int_t(value))
        case .number(let value): return value.isFinite ? json_real(value) : json_null()
        case .string(var text):
            return text.withUTF8 { buffer in
                buffer.withMemoryRebound(to: CChar.self) { characters in
                    characters.baseAddress.map { json_stringn($0, characters.count) } ?? json_string("")
                }
            }
        case .array(let elements):
            let array = json_array()
            for element in elements { json_array_append_new(array, element.handle ?? json_null()) }
            return array
        case .object(let members):
            let object = json_object()
            for member in members { json_object_set_new(object, member.name, member.value.handle ?? json_null()) }
            return object
        }
    }
}

/// Where a text is no JSON, and why.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package var line: Int
    package var text: String
    package var description: String { "line \(line): \(text)" }
}
