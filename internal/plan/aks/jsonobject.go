package aks

import (
	"bytes"
	"encoding/json"
)

// toJSONObject returns a model as decoded JSON, the form that patches and resets work on. Numbers are json.Number.
func toJSONObject(model any) (map[string]any, error) {
	raw, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out map[string]any
	err = decoder.Decode(&out)
	return out, err
}
