package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// tagged is a transport that shows resources with the tags that the user is about to give them.
type tagged struct {
	next policy.Transporter
	// tags has the tags by the key of the resource.
	tags map[string]map[string]string
}

// maxBody bounds an answer, as the reader of Azure does.
const maxBody = 64 << 20

// Do implements policy.Transporter.
func (t tagged) Do(request *http.Request) (*http.Response, error) {
	response, err := t.next.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	if body, err := arm.DecodeBody(json.RawMessage(raw)); err == nil {
		t.setTags(body)
		if changed, err := json.Marshal(body); err == nil {
			raw = changed
		}
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return response, nil
}

// setTags sets the tags of all resources in a body.
func (t tagged) setTags(body any) {
	jsonpath.Walk(body, func(_ jsonpath.Path, value any) bool {
		object, _ := value.(map[string]any)
		id, _ := object["id"].(string)
		add, is := t.tags[arm.ID(id).Key()]
		if !is || object["type"] == nil && object["location"] == nil {
			return true
		}
		tags, _ := object["tags"].(map[string]any)
		if tags == nil {
			tags = map[string]any{}
			object["tags"] = tags
		}
		for key, value := range add {
			tags[key] = value
		}
		return true
	})
}
