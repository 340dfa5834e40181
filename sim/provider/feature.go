package provider

import (
	"slices"
	"strings"
)

// featureNotes is the note in the store with the features whose registration has changed since the start: by subscription and name in lower
// case, true if registered.
const featureNotes = "features"

// IsFeatureRegistered reports whether the call's subscription has registered a feature, such as "Microsoft.Compute/EncryptionAtHost".
func (c *Call) IsFeatureRegistered(name string) bool {
	changed := map[string]bool{}
	c.ReadNote(featureNotes, &changed)
	if is, has := changed[strings.ToLower(c.ID.Subscription+"/"+name)]; has {
		return is
	}
	return !slices.ContainsFunc(c.FeaturesOff, func(off string) bool { return strings.EqualFold(off, name) })
}

// SetFeature registers a feature for a subscription, or ends its registration.
func (c *Call) SetFeature(subscription, name string, is bool) {
	changed := map[string]bool{}
	c.ReadNote(featureNotes, &changed)
	changed[strings.ToLower(subscription+"/"+name)] = is
	c.SetMeta(featureNotes, changed)
}
