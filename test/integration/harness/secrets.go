package harness

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// NewLists returns an empty list of each kind of the provider, by kind.
func NewLists(scheme *runtime.Scheme) map[string]client.ObjectList {
	out := map[string]client.ObjectList{}
	for name, of := range scheme.KnownTypes(infrav1.GroupVersion) {
		// The group has types of requests, too.
		if list, is := reflect.New(of).Interface().(client.ObjectList); is && strings.HasPrefix(name, "Azure") {
			out[strings.TrimSuffix(name, "List")] = list
		}
	}
	return out
}

// visibleTexts is everything of the stage that people get to see: objects, events, logs, the simulator's request log.
func (s *Stage) visibleTexts() map[string]string {
	s.T.Helper()
	out, lists := map[string]string{}, NewLists(s.Client.Scheme())
	// The manager writes these kinds, too.
	lists["Cluster"], lists["Machine"] = &clusterv1.ClusterList{}, &clusterv1.MachineList{}
	lists["MachinePool"], lists["ConfigMap"] = &clusterv1.MachinePoolList{}, &corev1.ConfigMapList{}
	if s.virtual {
		out["events"] = fmt.Sprint(s.listRecorded())
	} else {
		lists["Event of core"], lists["Event"] = &corev1.EventList{}, &eventsv1.EventList{}
	}
	for kind, list := range lists {
		text, err := s.encodeList(list)
		if err != nil {
			s.T.Errorf("list %s: %v", kind, err)
		}
		out[kind] = text
	}
	raw, err := json.Marshal(s.Azure.Requests())
	if err != nil {
		s.T.Error(err)
	}
	out["request log"] = string(raw)
	out["logs"] = strings.Join(s.suspiciousLines(), "\n")
	return out
}

// suspiciousLines returns the log lines that may contain a secret value of the stage.
func (s *Stage) suspiciousLines() []string {
	lines := s.Environment.Logs.markedLinesSince(s.logged)
	unmarked := slices.DeleteFunc(slices.Clone(s.secrets), hasMarker)
	if len(unmarked) == 0 {
		return lines
	}
	return append(lines, slices.DeleteFunc(s.Environment.Logs.LinesSince(s.logged), func(line string) bool {
		return !slices.ContainsFunc(unmarked, func(secret string) bool { return strings.Contains(line, secret) })
	})...)
}

// secretMarker is a part of each value of NewSecretValue. Logs look for it in each line once, because the lines of all stages of a test
// binary are too many to be searched for each value at the end of each stage.
const secretMarker = "NeverShowThisValue"

// markers are secretMarker and the parts of base64 that only it determines, for each of its three offsets.
var markers = func() []string {
	out := []string{secretMarker}
	for offset := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(" ", offset) + secretMarker))
		out = append(out, text[(offset*8+5)/6:(offset+len(secretMarker))*8/6])
	}
	return out
}()

// hasMarker reports whether a text may contain a value of NewSecretValue, as it is or in base64.
func hasMarker(text string) bool {
	return slices.ContainsFunc(markers, func(marker string) bool { return strings.Contains(text, marker) })
}

// encodeList returns the objects of a kind in the stage's namespace as JSON.
func (s *Stage) encodeList(list client.ObjectList) (string, error) {
	ctx, cancel := s.withPatience()
	defer cancel()
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
		return "", err
	}
	raw, err := json.Marshal(list)
	return string(raw), err
}

// FindSecrets returns where secret values are that must not be there, sorted.
func (s *Stage) FindSecrets() (out []string) {
	s.T.Helper()
	texts := s.visibleTexts()
	for _, where := range slices.Sorted(maps.Keys(texts)) {
		text := texts[where]
		for _, secret := range s.secrets {
			if at := strings.Index(text, secret); at >= 0 {
				out = append(out, fmt.Sprintf("%s: ...%s", where, text[max(0, at-200):min(len(text), at+20)]))
			}
		}
	}
	return out
}

// CheckSecrets fails the test when a secret value is anywhere it must not be.
func (s *Stage) CheckSecrets() {
	s.T.Helper()
	for _, found := range s.FindSecrets() {
		s.T.Errorf("a secret value shows up in %s", found)
	}
}
