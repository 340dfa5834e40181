package stopping

import (
	"fmt"
	"strings"
	"time"

	// The image of the manager has no time zones of its own.
	_ "time/tzdata"

	"github.com/robfig/cron/v3"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// Bounds of a schedule, which users write: its text in bytes, and its entries.
const (
	maxScheduleText = 4096
	maxWindows      = 20
)

// window is a recurring time in which VMs are stopped.
type window struct{ stop, start cron.Schedule }

// parseSchedule reads the value of infrav1.StopScheduleAnnotation.
func parseSchedule(now time.Time, text string) ([]window, error) {
	if len(text) > maxScheduleText {
		return nil, fmt.Errorf("the schedule has %d bytes; write at most %d", len(text), maxScheduleText)
	}
	var entries []struct {
		Stop     string `json:"stop"`
		Start    string `json:"start"`
		TimeZone string `json:"timeZone"`
	}
	if err := userinput.DecodeStrict([]byte(text), nil, &entries); err != nil {
		return nil, fmt.Errorf("%w. Write a YAML list whose entries have stop, start and, if wanted, timeZone, "+
			`for example [{stop: "0 20 * * 1-5", start: "0 7 * * 1-5", timeZone: Europe/Berlin}]`, err)
	}
	if len(entries) == 0 || len(entries) > maxWindows {
		return nil, fmt.Errorf("the schedule has %d entries; write 1 to %d", len(entries), maxWindows)
	}
	out := make([]window, 0, len(entries))
	for i, entry := range entries {
		zone, err := time.LoadLocation(entry.TimeZone)
		if err != nil || entry.TimeZone == "Local" {
			return nil, fmt.Errorf("[%d].timeZone: %q is not a time zone: use a name such as Europe/Berlin", i, entry.TimeZone)
		}
		stop, err := parseTime(now, entry.Stop, zone)
		if err != nil {
			return nil, fmt.Errorf("[%d].stop: %w", i, err)
		}
		start, err := parseTime(now, entry.Start, zone)
		if err != nil {
			return nil, fmt.Errorf("[%d].start: %w", i, err)
		}
		out = append(out, window{stop, start})
	}
	return out, nil
}

// parseTime reads an expression of cron with five fields. Its times exist, which those of February 30 do not.
func parseTime(now time.Time, text string, zone *time.Location) (cron.Schedule, error) {
	schedule, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return nil, fmt.Errorf(`%q is not a cron expression: write minute, hour, day, month and weekday, such as "0 20 * * 1-5"`, text)
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok || strings.Contains(text, "=") {
		return nil, fmt.Errorf("%q: write the time zone in timeZone", text)
	}
	spec.Location = zone
	if spec.Next(now).IsZero() {
		return nil, fmt.Errorf("%q: this day does not exist", text)
	}
	return spec, nil
}

// stateAt reports whether the time is within a window, and when that changes next. A time is within a window if its start comes before
// its next stop.
func stateAt(now time.Time, windows []window) (stopped bool, until time.Time) {
	earlier := func(at time.Time) {
		if until.IsZero() || at.Before(until) {
			until = at
		}
	}
	for _, w := range windows {
		stop, start := w.stop.Next(now), w.start.Next(now)
		stopped = stopped || start.Before(stop)
		earlier(stop)
		earlier(start)
	}
	return stopped, until
}
