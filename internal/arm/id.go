package arm

import (
	"fmt"
	"strings"
)

// ID is the full ID of an Azure resource as Azure Resource Manager writes it, for example
// /subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/N.
//
// IDs can be computed from names before anything exists. Azure ignores their case and may return another case than it was sent, so
// compare with Equal and use Key for maps.
type ID string

// ResourceGroupType is the resource type of a resource group.
const ResourceGroupType = "Microsoft.Resources/resourceGroups"

// SubscriptionID returns the ID of a subscription, the scope of subscription-wide role assignments.
func SubscriptionID(subscription string) ID {
	return ID("/subscriptions/" + subscription)
}

// ResourceGroupID returns the ID of a resource group.
func ResourceGroupID(subscription, group string) ID {
	return ID("/subscriptions/" + subscription + "/resourceGroups/" + group)
}

// NewID returns the ID of a top-level resource: resourceType is "Namespace/type", as in "Microsoft.Network/virtualNetworks".
func NewID(subscription, group, resourceType, name string) ID {
	return ID(string(ResourceGroupID(subscription, group)) + "/providers/" + resourceType + "/" + name)
}

// Child returns the ID of a child resource of id, as in vnet.Child("subnets", "nodes").
func (id ID) Child(childType, name string) ID {
	return ID(string(id) + "/" + childType + "/" + name)
}

// Extension returns the ID of a resource that extends id, as a role assignment extends its scope.
func (id ID) Extension(resourceType, name string) ID {
	return ID(strings.TrimSuffix(string(id), "/") + "/providers/" + resourceType + "/" + name)
}

// maxIDLength bounds the text of an ID, because its parts are found by repeated searches. It is an assumption: Azure documents no
// maximum. Resource groups have up to 90 characters and most names up to 80, so an ID with five levels is far below it.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
const maxIDLength = 4096

// ParseID checks that s has the shape of a resource ID and returns it without a trailing slash. A leading "azure://",
// as provider IDs have it, is accepted and dropped.
func ParseID(s string) (ID, error) {
	if len(s) > maxIDLength {
		return "", fmt.Errorf("a text of %d characters is not an Azure resource ID: an ID has at most %d", len(s), maxIDLength)
	}
	id := ID(strings.TrimSuffix(TrimScheme(s), "/"))
	if !strings.HasPrefix(string(id), "/subscriptions/") && !strings.HasPrefix(string(id), "/providers/") {
		return "", fmt.Errorf("%q is not an Azure resource ID: want /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>", s)
	}
	if strings.Contains(string(id)+"/", "//") {
		return "", fmt.Errorf("%q is not an Azure resource ID: it has an empty segment", s)
	}
	if id.Type() == "" {
		return "", fmt.Errorf("%q is not an Azure resource ID: it names no resource type and name", s)
	}
	return id, nil
}

// scheme begins provider IDs of Kubernetes.
const scheme = "azure://"

// TrimScheme returns a resource ID or provider ID without the scheme of provider IDs, in any case. Requests to Azure need the ID without it.
func TrimScheme(id string) string {
	if len(id) >= len(scheme) && strings.EqualFold(id[:len(scheme)], scheme) {
		return id[len(scheme):]
	}
	return id
}

// Key returns the ID in lower case, for use as a map key.
func (id ID) Key() string { return strings.ToLower(string(id)) }

// Equal reports whether both IDs name the same resource.
func (id ID) Equal(other ID) bool { return strings.EqualFold(string(id), string(other)) }

// String implements fmt.Stringer.
func (id ID) String() string { return string(id) }

// IDs are parsed many times in each reconciliation, so the parts are slices of the text.

// trimmedText returns the ID without slashes at its ends.
func (id ID) trimmedText() string { return strings.Trim(string(id), "/") }

// findProvider returns the number of segments and the position of the last "providers" segment, -1 if there is none. A name may be
// "providers", too, but names are at odd positions only.
func findProvider(text string) (segments, at int) {
	at = -1
	for begin := 0; ; segments++ {
		end := strings.IndexByte(text[begin:], '/')
		segment := text[begin:]
		if end >= 0 {
			segment = segment[:end]
		}
		if segments%2 == 0 && strings.EqualFold(segment, "providers") {
			at = begin
		}
		if end < 0 {
			return segments + 1, at
		}
		begin += end + 1
	}
}

// segmentAfter returns the segment after the first segment key, or "".
func (id ID) segmentAfter(key string) string {
	for rest := id.trimmedText(); ; {
		name, values, ok := strings.Cut(rest, "/")
		if !ok {
			return ""
		}
		value, others, more := strings.Cut(values, "/")
		if strings.EqualFold(name, key) {
			return value
		}
		if !more {
			return ""
		}
		rest = others
	}
}

// Subscription returns the GUID of the subscription, or "" for a tenant-level resource.
func (id ID) Subscription() string { return id.segmentAfter("subscriptions") }

// ResourceGroup returns the name of the resource group, or "" if the resource is in none.
func (id ID) ResourceGroup() string { return id.segmentAfter("resourceGroups") }

// Type returns the full resource type, as in "Microsoft.Network/virtualNetworks/subnets", or "" if the ID has none.
func (id ID) Type() string {
	text := id.trimmedText()
	segments, at := findProvider(text)
	if at < 0 {
		first, rest, _ := strings.Cut(text, "/")
		if _, rest, _ = strings.Cut(rest, "/"); segments == 4 && strings.EqualFold(rest[:strings.IndexByte(rest, '/')], "resourceGroups") {
			return ResourceGroupType
		}
		if segments == 2 && strings.EqualFold(first, "subscriptions") {
			return "Microsoft.Resources/subscriptions"
		}
		return ""
	}
	// The rest is namespace, type, name, and more pairs of type and name.
	inside := strings.TrimPrefix(text[at+len("providers"):], "/")
	namespace, rest, ok := strings.Cut(inside, "/")
	if !ok {
		return ""
	}
	word, rest, _ := strings.Cut(rest, "/")
	out := inside[:len(namespace)+1+len(word)]
	for {
		var more bool
		if _, rest, more = strings.Cut(rest, "/"); !more {
			return out
		}
		word, rest, _ = strings.Cut(rest, "/")
		out += "/" + word
	}
}

// Name returns the last segment.
func (id ID) Name() string {
	return string(id)[strings.LastIndex(string(id), "/")+1:]
}

// Parent returns the resource that contains this one: the parent resource of a child, the scope of an extension, the resource group of
// a top-level resource, and "" for a resource group or subscription.
func (id ID) Parent() ID {
	text := id.trimmedText()
	_, at := findProvider(text)
	if at < 0 {
		return ""
	}
	// The last pair is removed, and with the first pair also the provider.
	end := max(0, at-1)
	if name := strings.LastIndexByte(text, '/'); name >= 0 {
		if last := strings.LastIndexByte(text[:name], '/'); last > at && strings.Count(text[at:last], "/") > 1 {
			end = last
		}
	}
	if strings.HasPrefix(string(id), "/"+text[:1]) {
		return id[:1+end]
	}
	return ID("/" + text[:end])
}

// IsWithin reports whether id is scope or below it.
func (id ID) IsWithin(scope ID) bool {
	length := len(strings.TrimSuffix(string(scope), "/"))
	return id.Equal(scope) || len(id) > length && id[length] == '/' && id[:length].Equal(scope[:length])
}

// ShortName returns the type's last word and the name, as in "subnets/nodes": enough for a message about one cluster. The tags of each
// resource have the name "default", so their short name is the short name of the resource and "/tags".
func (id ID) ShortName() string {
	resourceType := id.Type()
	if strings.EqualFold(resourceType, "Microsoft.Resources/tags") {
		return id.Parent().ShortName() + "/tags"
	}
	return resourceType[strings.LastIndex(resourceType, "/")+1:] + "/" + id.Name()
}
