package virtual

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// State has the values in Kubernetes and in Azure, without random values and times: each value with its path, counted as often as it
// occurs.
type State map[string]int

// drawn matches values that differ from run to run: GUIDs, also inside the IDs of zones, random parts of names by AKS, times, public
// addresses, and those of network cards.
var drawn = regexp.MustCompile(`SW1tdXRhYmxlWm9uZUlkZW50aXR5[A-Za-z0-9+/=]+|[0-9a-f]{8,}(-[0-9a-f]{4,}){0,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|\+00:00)|\b[0-9]{8}\b|\b20(\.[0-9]+){3}|-[0-9a-z]{8}\.(portal\.|priv\.)?hcp\.|00-0D-3A(-[0-9A-F]{2}){3}`)

// MaskRandomText replaces random parts and times of a text by "#".
func MaskRandomText(text string) string { return drawn.ReplaceAllString(text, "#") }

// counted are properties that count writes.
var counted = []string{"resourceVersion", "etag", "generation"}

// replaceObservedGeneration replaces each observed generation of an object by the number of generations that it is behind the spec: the
// number of steps in which a controller writes into its own spec depends on the order in which it sees changes.
func replaceObservedGeneration(generation int64, value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			replaceObservedGeneration(generation, element)
		}
	case map[string]any:
		for key, of := range v {
			if observed, is := of.(float64); is && key == "observedGeneration" {
				v[key] = fmt.Sprintf("%d behind", generation-int64(observed))
			}
			replaceObservedGeneration(generation, of)
		}
	}
}

// addLeaves adds the leaves of a value, by their path, without random ones.
func (s State) addLeaves(path string, value any) {
	switch v := value.(type) {
	case []any:
		// What has a name has no order: subnets come as they were made.
		slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(nameOrEmpty(a), nameOrEmpty(b)) })
		for i := range v {
			s.addLeaves(fmt.Sprintf("%s.%d", path, i), v[i])
		}
		return
	case map[string]any:
		for key, of := range v {
			if !slices.Contains(counted, key) {
				s.addLeaves(path+"."+key, of)
			}
		}
		return
	case string:
		if strings.Contains(path, "/MC_") && strings.HasSuffix(path, ".privateIPAddress") {
			v = "" // first come, first served
		}
		value = drawn.ReplaceAllString(v, "#")
	}
	s[fmt.Sprintf("%s: %v", drawn.ReplaceAllString(path, "#"), value)]++
}

// nameOrEmpty returns the name of an element of a list, or "".
func nameOrEmpty(element any) string {
	object, _ := element.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

// ListDifferences returns the values that another state has less often or more often.
func (s State) ListDifferences(other State) (out []string) {
	for line, often := range s {
		if other[line] < often {
			out = append(out, line+" is missing")
		}
	}
	for line, often := range other {
		if s[line] < often {
			out = append(out, line+" is too much")
		}
	}
	slices.Sort(out)
	return out
}

// decodeObject returns an object as JSON has it.
func (s *Scenario) decodeObject(object any) any {
	s.T.Helper()
	out, err := decodeJSON(object)
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

// decodeJSON returns a value as JSON has it.
func decodeJSON(value any) (out any, err error) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// ReadState returns the current state.
func (s *Scenario) ReadState() State {
	s.T.Helper()
	out := State{}
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}, &infrav1.AzureMachinePoolMachineList{},
		&infrav1.AzureClusterIdentityList{},
		&infrav1.AzureManagedClusterList{}, &infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
		&clusterv1.ClusterList{}, &clusterv1.MachinePoolList{}, &clusterv1.MachineList{}, &corev1.SecretList{}, &corev1.ConfigMapList{},
	} {
		if err := s.Kubernetes.List(s.T.Context(), list); err != nil {
			s.T.Fatal(err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			if secret, is := object.(*corev1.Secret); is {
				// What they hold is made anew for each cluster.
				for name := range secret.Data {
					secret.Data[name] = nil
				}
			}
			decoded := s.decodeObject(object)
			replaceObservedGeneration(object.GetGeneration(), decoded)
			out.addLeaves(fmt.Sprintf("%T %s", object, object.GetName()), decoded)
			return nil
		})
		if err != nil {
			s.T.Fatal(err)
		}
	}
	s.addAzureState(out)
	return out
}

// ReadAzureState returns the current state of Azure.
func (s *Scenario) ReadAzureState() State {
	s.T.Helper()
	out := State{}
	s.addAzureState(out)
	return out
}

func (s *Scenario) addAzureState(out State) {
	s.T.Helper()
	for _, resource := range s.Sim.State() {
		id, _ := resource["id"].(string)
		out.addLeaves(strings.TrimPrefix(id, "/subscriptions/"+s.Azure.SubscriptionID+"/"), s.decodeObject(resource))
	}
}
