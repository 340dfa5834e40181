package server

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// answerTags answers the tags resource of a scope; it writes through to the resource's own tags. Those of a subscription are kept as a note.
func (x *exchange) answerTags(scope string) (*provider.Reply, error) {
	c := x.call
	id, err := store.ParseID(scope)
	if err != nil {
		return nil, provider.GatewayErrorf(400, "InvalidResourceId", "The scope '%s' is no resource ID.", scope)
	}
	r := c.Edit(id.String())
	whole := id.Namespace == "" && id.ResourceGroup == ""
	if r == nil && !whole {
		if id.Namespace == "" || c.Get("/subscriptions/"+id.Subscription+"/resourceGroups/"+id.ResourceGroup) == nil {
			return nil, provider.ResourceGroupNotFound(id.ResourceGroup)
		}
		return nil, provider.ResourceNotFound(id)
	}
	key := "tags" + store.Key(scope)
	have := body.Object{}
	if whole {
		c.ReadNote(key, &have)
	} else {
		c.Type = x.s.env.TypeOf(r.Type)
		if t := body.Child(r.Body, "tags"); t != nil {
			have = t
		}
		scope = r.ID
	}
	sent := body.Child(c.Body, "properties.tags")
	if sent == nil {
		if value := body.Get(c.Body, "properties.tags"); value != nil {
			return nil, provider.CheckTags(c.Type, value)
		}
		sent = body.Object{}
	}
	op := "Replace"
	switch x.r.Method {
	case "GET":
		return provider.OK(x.tagsBody(scope, have)), nil
	case "PUT":
	case "PATCH":
		op = body.String(c.Body, "operation")
	case "DELETE":
		sent = body.Object{}
	default:
		return nil, provider.GatewayErrorf(405, "MethodNotAllowed", "The requested resource does not support http method '%s'.", x.r.Method)
	}
	if err := c.CheckLocks("PUT", scope); err != nil {
		return nil, err
	}
	switch strings.ToLower(op) {
	case "replace":
		have = body.Clone(sent)
	case "merge":
		if err := provider.CheckTags(c.Type, sent); err != nil {
			return nil, err
		}
		for k, v := range sent {
			dropTag(have, k)
			have[k] = v
		}
	case "delete":
		for k, v := range sent {
			for h := range have {
				if strings.EqualFold(h, k) && (v == "" || v == have[h]) {
					delete(have, h)
				}
			}
		}
	default:
		return nil, provider.GatewayErrorf(400, "InvalidTagPatchOperation", "The operation '%s' is not supported. Use Merge, Replace or Delete.",
			op)
	}
	if err := provider.CheckTags(c.Type, have); err != nil {
		return nil, err
	}
	if whole {
		c.SetMeta(key, have)
	} else {
		r.Body["tags"], r.Written = have, c.Now()
		c.SaveResource(r)
	}
	c.Type = nil
	if x.r.Method == "DELETE" {
		return &provider.Reply{Status: 200}, nil
	}
	return provider.OK(x.tagsBody(scope, have)), nil
}

func dropTag(tags body.Object, name string) {
	for k := range tags {
		if strings.EqualFold(k, name) {
			delete(tags, k)
		}
	}
}

func (x *exchange) tagsBody(scope string, tags body.Object) body.Object {
	return body.Object{"id": scope + "/providers/Microsoft.Resources/tags/default", "name": "default", "type": "Microsoft.Resources/tags",
		"properties": body.Object{"tags": tags}}
}
