package virtual

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/planned"
)

// The following methods play users of Azure and other programs. A path is an ID below the subscription, as "resourceGroups/a", or below the
// providers of the resource group c1, as "Microsoft.Network/loadBalancers/b". The api-version is the one that the provider uses.

// ResourceID returns the ID of a resource.
func (s *Scenario) ResourceID(path string) arm.ID {
	if strings.HasPrefix(path, "resourceGroups/") || strings.HasPrefix(path, "providers/") {
		return arm.SubscriptionID(s.Azure.SubscriptionID) + arm.ID("/"+path)
	}
	return arm.ResourceGroupID(s.Azure.SubscriptionID, "c1") + arm.ID("/providers/"+path)
}

// ResourceReference returns how one resource refers to another.
func (s *Scenario) ResourceReference(path string) map[string]any {
	return map[string]any{"id": string(s.ResourceID(path))}
}

// ResourceVersion returns the api-version of the type of a resource.
func (s *Scenario) ResourceVersion(path string) string {
	s.T.Helper()
	row, err := types.ForID(s.ResourceID(path))
	if err != nil && strings.Contains(path, "/networkInterfaces/") {
		// The provider does not read interfaces of instances.
		row, err = types.ForID(s.ResourceID("Microsoft.Network/networkInterfaces/any"))
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return row.APIVersion
}

// sendToResource sends a request for a resource, or for a path below it. It does not wait until the operation has ended.
func (s *Scenario) sendToResource(method, path, below string, body map[string]any) (status int, answer []byte) {
	s.T.Helper()
	short := strings.TrimPrefix(string(s.ResourceID(path)), "/subscriptions/"+s.Azure.SubscriptionID+"/")
	return s.SendAsUser(method, short+below, s.ResourceVersion(path), body)
}

// changeResource sends a request that has to succeed, and waits until Azure is idle.
func (s *Scenario) changeResource(method, path string, body map[string]any) {
	s.T.Helper()
	if status, answer := s.sendToResource(method, path, "", body); status > 299 {
		s.T.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	s.WaitAzureIdle()
}

// FindResource reads a resource; ok is false if it does not exist.
func (s *Scenario) FindResource(path string) (resource map[string]any, ok bool) {
	s.T.Helper()
	status, raw := s.sendToResource(http.MethodGet, path, "", nil)
	if status == http.StatusNotFound {
		return nil, false
	}
	if err := json.Unmarshal(raw, &resource); err != nil || status != http.StatusOK {
		s.T.Fatalf("GET %s: %d %s", path, status, raw)
	}
	return resource, true
}

// ReadResource reads a resource that has to exist.
func (s *Scenario) ReadResource(path string) map[string]any {
	s.T.Helper()
	resource, ok := s.FindResource(path)
	if !ok {
		s.T.Fatalf("%s does not exist", path)
	}
	return resource
}

// FindProperty returns the value at a dotted path of a resource, in lists by the name or position of an element; nil if there is none.
func (s *Scenario) FindProperty(path, dotted string) any {
	s.T.Helper()
	resource, _ := s.FindResource(path)
	return harness.FindValue(resource, dotted)
}

// HasElement reports whether a list of a resource has an element of which a member has the value, in any case.
func (s *Scenario) HasElement(path, list, member, value string) bool {
	s.T.Helper()
	items, _ := s.FindProperty(path, list).([]any)
	return slices.ContainsFunc(items, func(item any) bool { return strings.EqualFold(harness.FindString(item, member), value) })
}

// PutResource creates or replaces a resource, and waits until Azure is idle.
func (s *Scenario) PutResource(path string, body map[string]any) {
	s.T.Helper()
	s.changeResource(http.MethodPut, path, body)
}

// PatchResource is PutResource with PATCH.
func (s *Scenario) PatchResource(path string, body map[string]any) {
	s.T.Helper()
	s.changeResource(http.MethodPatch, path, body)
}

// RewriteResource reads a resource, changes it, and writes all of it.
func (s *Scenario) RewriteResource(path string, change func(resource map[string]any)) {
	s.T.Helper()
	resource := s.ReadResource(path)
	change(resource)
	s.PutResource(path, resource)
}

// InsertElements adds elements to a list of properties as other controllers do: they read the resource and write all of it.
func (s *Scenario) InsertElements(path, list string, elements ...any) {
	s.T.Helper()
	s.RewriteResource(path, func(resource map[string]any) {
		properties, _ := resource["properties"].(map[string]any)
		have, _ := properties[list].([]any)
		properties[list] = append(have, elements...)
	})
}

// RemoveResource deletes a resource, and waits until it is gone.
func (s *Scenario) RemoveResource(path string) {
	s.T.Helper()
	s.changeResource(http.MethodDelete, path, nil)
	s.WaitUntil(path+" is gone", func() bool {
		_, ok := s.FindResource(path)
		return !ok
	})
}

// EditResource merges a patch into a resource, with null for removed properties, without the rules of Azure's API.
func (s *Scenario) EditResource(path string, patch map[string]any) {
	s.T.Helper()
	s.AddFault(fault.Rule{Now: true, ID: string(s.ResourceID(path)), Kind: fault.Edit, Patch: patch})
}

// AddFault makes the simulated Azure do something by itself.
func (s *Scenario) AddFault(rule fault.Rule) {
	s.T.Helper()
	if err := s.Azure.AddFault(rule); err != nil {
		s.T.Fatal(err)
	}
}

// PostAction asks for an action on a resource. It does not wait until it is done.
func (s *Scenario) PostAction(path, action string) {
	s.T.Helper()
	if status, answer := s.sendToResource(http.MethodPost, path, "/"+action, nil); status > 299 {
		s.T.Fatalf("POST %s/%s: %d %s", path, action, status, answer)
	}
}

// WaitQuiet waits until Azure is idle and the provider has sent no request for a while.
func (s *Scenario) WaitQuiet() {
	s.T.Helper()
	s.WaitUntil("the provider is quiet", func() bool {
		mark := s.Azure.MarkRequests()
		s.AdvanceClock(quietTime)
		return len(s.Azure.RequestsSince(mark)) == 0
	})
}

// TouchObject changes an annotation of an object, so that its controllers are called.
func (s *Scenario) TouchObject(object client.Object) {
	s.T.Helper()
	s.touches++
	s.plans.touch(func() {
		harness.ChangeObject[client.Object](s.Stage, object, func(o client.Object) {
			annotations := o.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[planned.TouchedAnnotation] = fmt.Sprint(s.touches)
			o.SetAnnotations(annotations)
		})
	})
}
