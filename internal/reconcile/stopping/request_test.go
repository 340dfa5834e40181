package stopping

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestReadRequest reads annotations of an object and its Cluster.
func TestReadRequest(t *testing.T) {
	const nights = `[{stop: "0 20 * * 1-5", start: "0 7 * * 1-5", timeZone: Europe/Berlin}]`
	monday := time.Date(2026, 3, 23, 12, 0, 0, 0, time.UTC) // Berlin is UTC+1, from March 29 on UTC+2
	for name, test := range map[string]struct {
		reason          string
		object, cluster map[string]string
		now             time.Time
		stop, zero, run bool
		until           time.Time
		cause           string
	}{
		"none":                 {reason: "nothing is asked for"},
		"of the Cluster":       {reason: "it counts for its objects", cluster: map[string]string{infrav1.StopAnnotation: "true"}, stop: true, cause: "on Cluster c1"},
		"of the object":        {reason: "it counts before the Cluster's", object: map[string]string{infrav1.StopAnnotation: "false"}, cluster: map[string]string{infrav1.StopAnnotation: "true"}, run: true, cause: "on AzureMachinePool p"},
		"without VMs":          {reason: "pools may be left without VMs", object: map[string]string{infrav1.StopAnnotation: "scale-to-zero"}, stop: true, zero: true, cause: "on AzureMachinePool p"},
		"value and schedule":   {reason: "a value counts before a schedule", cluster: map[string]string{infrav1.StopAnnotation: "false", infrav1.StopScheduleAnnotation: nights}, now: monday.Add(12 * time.Hour), run: true, cause: "/stop on Cluster c1"},
		"before the evening":   {reason: "it runs by day", cluster: map[string]string{infrav1.StopScheduleAnnotation: nights}, now: monday, until: monday.Add(7 * time.Hour), cause: "stop-schedule on Cluster c1"},
		"at the moment":        {reason: "the night begins at its minute", cluster: map[string]string{infrav1.StopScheduleAnnotation: nights}, now: monday.Add(7 * time.Hour), stop: true, until: monday.Add(18 * time.Hour), cause: "stop-schedule"},
		"at night":             {reason: "it is stopped by night", cluster: map[string]string{infrav1.StopScheduleAnnotation: nights}, now: monday.Add(10 * time.Hour), stop: true, until: monday.Add(18 * time.Hour), cause: "stop-schedule"},
		"when clocks go ahead": {reason: "Monday begins at 7 of summer time", cluster: map[string]string{infrav1.StopScheduleAnnotation: nights}, now: monday.AddDate(0, 0, 5), stop: true, until: time.Date(2026, 3, 30, 5, 0, 0, 0, time.UTC), cause: "stop-schedule"},
		"two entries": {reason: "one of them is enough", now: monday, stop: true, until: monday.Add(time.Hour), cause: "stop-schedule",
			object: map[string]string{infrav1.StopScheduleAnnotation: `[{stop: "0 11 * * *", start: "0 13 * * *"}, {stop: "0 20 * * *", start: "0 7 * * *"}]`}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &metav1.ObjectMeta{Name: "p", Annotations: test.object}
			cluster := &metav1.ObjectMeta{Name: "c1", Annotations: test.cluster}
			got, errs := ReadRequest(test.now, "AzureMachinePool", object, cluster)
			if len(errs) > 0 {
				t.Fatalf("%s: %v", test.reason, errs)
			}
			if got.Stop != test.stop || got.ScaleToZero != test.zero || got.Run != test.run || !got.Until.Equal(test.until) ||
				!strings.Contains(got.Cause, test.cause) || got.Cause == "" != (test.cause == "") {
				t.Errorf("%s: got %+v", test.reason, got)
			}
		})
	}
}

// TestWrongTypesOfASchedule checks that the message names the field and its type.
func TestWrongTypesOfASchedule(t *testing.T) {
	for text, want := range map[string]string{
		"always": `document: Invalid value: "string": must be of type array`,
		`[{stop: "0 1 * * *", start: "0 2 * * *"}, {stop: [1]}]`: `[1].stop: Invalid value: "array": must be of type string`,
	} {
		object := &metav1.ObjectMeta{Name: "p", Annotations: map[string]string{infrav1.StopScheduleAnnotation: text}}
		_, errs := ReadRequest(time.Unix(0, 0), "AzureMachine", object, nil)
		if got := errs.ToAggregate(); got == nil || !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "Go ") {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
}

// TestHostileSchedule reads schedules that are too long.
func TestHostileSchedule(t *testing.T) {
	for reason, text := range map[string]string{
		"too many bytes":   strings.Repeat("#", maxScheduleText+1),
		"too many entries": "[" + strings.Repeat(`{stop: "0 1 * * *", start: "0 2 * * *"},`, maxWindows+1) + "]",
		"no entry":         "[]",
		"another field":    `[{stop: "0 1 * * *", start: "0 2 * * *", end: "0 3 * * *"}]`,
		"zone in the time": `[{stop: "TZ=UTC 0 1 * * *", start: "0 2 * * *"}]`,
		"the host's zone":  `[{stop: "0 1 * * *", start: "0 2 * * *", timeZone: Local}]`,
		"no start":         `[{stop: "0 1 * * *"}]`,
	} {
		object := &metav1.ObjectMeta{Name: "p", Annotations: map[string]string{infrav1.StopScheduleAnnotation: text}}
		if got, errs := ReadRequest(time.Unix(0, 0), "AzureMachine", object, nil); len(errs) != 1 || got != (Request{}) {
			t.Errorf("%s: got %+v, %v", reason, got, errs)
		}
	}
}
