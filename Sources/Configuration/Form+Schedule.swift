import Primitives

extension Form<ScheduleTimes> {
    static let times = Form(
        "[DAY, DAY-DAY or holidays] HH:MM-HH:MM", expected: "times such as Mo-Fr 22:00-06:00 or holidays 00:00-24:00"
    ) { ScheduleTimes($0) }
}

extension Form<Holiday> {
    static let holiday = Form("MM-DD or YYYY-MM-DD", expected: "a day such as 12-25 or 2027-03-26") { Holiday($0) }
}

extension Form<Expiry> {
    static let expiry = Form(
        "YYYY-MM-DD [HH:MM]", expected: "a day such as 2027-01-31, or 2027-01-31 12:00"
    ) { Expiry($0) }
}

extension Form<ScheduleCondition> {
    static let condition = Form("SCHEDULE or not SCHEDULE", expected: "a schedule's name, or not and its name") {
        text in
        let words = text.words
        guard let name = words.last, SectionName.isValid(name: name) else { return nil }
        return words.count == 1 || words.count == 2 && words[0] == "not"
            ? ScheduleCondition(name, isInverted: words.count == 2) : nil
    }
}
