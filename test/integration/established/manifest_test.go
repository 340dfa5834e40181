package established_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// applyManifest creates the objects of a manifest, and removes them at the end of the test.
func applyManifest(t *testing.T, manifest string) {
	t.Helper()
	objects, err := flavors.DecodeManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeObjects(t, objects) })
	for _, object := range objects {
		createObject(t, object)
	}
}
