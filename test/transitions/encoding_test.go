package transitions_test

import (
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// decodeJSON is JSON with whole numbers as an API server has them.
func decodeJSON(raw []byte) (out any) {
	_ = utiljson.Unmarshal(raw, &out)
	return out
}

// cloneSpec returns a spec of its own.
func cloneSpec(spec map[string]any) map[string]any {
	raw, _ := json.Marshal(spec)
	return decodeJSON(raw).(map[string]any)
}

func encodeManifest(spec map[string]any) []byte {
	raw, _ := json.Marshal(map[string]any{"spec": spec})
	return raw
}

// fillSpec gives an object its spec.
func fillSpec(object client.Object, spec map[string]any) error {
	return json.Unmarshal(encodeManifest(spec), object)
}

// mergePatch returns an object with a patch.
func mergePatch(into, object client.Object, patch []byte) (client.Object, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if raw, err = jsonpatch.MergePatch(raw, patch); err != nil {
		return nil, err
	}
	return into, json.Unmarshal(raw, into)
}
