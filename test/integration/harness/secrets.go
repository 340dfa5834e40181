package harness

import (
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
	out["logs"] = strings.Join(s.Environment.Logs.LinesSince(s.logged), "\n")
	return out
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
