package enum Demo { package static func run(stays: Bool, _ write: (String) -> Void) -> Bool { false } }
