package import GPIO

extension Appliance {
    /// The wires of `sim:` lines, for who has no hardware: a test, a panel on a screen.
    package var simulation: SimulatedLines? { panel?.lines.simulation }
}
