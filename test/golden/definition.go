package golden

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// checkBody checks the body of a node against Azure's definition of its type in the api-version that it is sent with, or in the next one
// that is defined. Of resources that Azure makes only the tags are sent, by another request.
func checkBody(t *testing.T, n *arm.Node, apiVersion string) {
	t.Helper()
	if n.Policy == arm.Observe || n.Policy == arm.TagOnly || n.Body == nil {
		return
	}
	definition, ok := schema.NearestDefinition(n.ID.Type(), apiVersion)
	if !ok {
		t.Errorf("%s: no version of the definitions has %s", n.ID, n.ID.Type())
		return
	}
	raw, err := json.Marshal(n.Body)
	if err != nil {
		t.Fatalf("%s: %v", n.ID, err)
	}
	var body any
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("%s: %v", n.ID, err)
	}
	for _, finding := range definition.CheckRequest(body) {
		t.Errorf("%s: Azure's definition of %s in version %s does not have this: %s", n.ID, definition.Type, definition.APIVersion, finding)
	}
}
