package fault

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// Parse reads one rule, or a JSON array of rules. A field that no rule has is an error: a rule without its condition would hit every request.
func Parse(raw []byte) ([]Rule, error) {
	parts := []json.RawMessage{raw}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		if err := body.DecodeOne(json.NewDecoder(bytes.NewReader(raw)), &parts); err != nil {
			return nil, err
		}
	}
	rules := make([]Rule, len(parts))
	for i, part := range parts {
		decoder := json.NewDecoder(bytes.NewReader(part))
		decoder.DisallowUnknownFields()
		if err := body.DecodeOne(decoder, &rules[i]); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if err := rules[i].Validate(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return rules, nil
}
