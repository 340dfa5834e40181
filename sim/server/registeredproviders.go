package server

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// registeredProviders is the note in the store with the providers whose registration has changed since the start: by subscription and
// namespace in lower case, true if registered.
const registeredProviders = "providers"

// alwaysRegistered are the namespaces of Resource Manager itself.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/azure-services-resource-providers ("registered by default").
var alwaysRegistered = []string{"microsoft.resources", "microsoft.authorization"}

func registrationKey(subscription, namespace string) string {
	return strings.ToLower(subscription + "/" + namespace)
}

func (s *Server) isRegistered(tx *store.Tx, subscription, namespace string) bool {
	changed := map[string]bool{}
	tx.ReadNote(registeredProviders, &changed)
	if is, has := changed[registrationKey(subscription, namespace)]; has {
		return is
	}
	return !slices.ContainsFunc(s.opts.Unregistered, func(name string) bool { return strings.EqualFold(name, namespace) })
}

// setRegistered answers POST /subscriptions/<s>/providers/<n>/register and .../unregister. Azure registers in the background, within
// minutes; the simulator does at once.
func setRegistered(tx *store.Tx, subscription, namespace string, is bool) {
	if slices.Contains(alwaysRegistered, strings.ToLower(namespace)) {
		return
	}
	changed := map[string]bool{}
	tx.ReadNote(registeredProviders, &changed)
	changed[registrationKey(subscription, namespace)] = is
	tx.SetMeta(registeredProviders, changed)
}

// checkRegistration refuses writes to resources of providers that the subscription has not registered. Reads are answered, which is an
// assumption.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-register-resource-provider
func (x *exchange) checkRegistration() error {
	namespace := x.call.ID.Namespace
	if x.r.Method == "GET" || x.r.Method == "HEAD" || namespace == "" || x.call.ID.Subscription == "" || x.call.Type == nil {
		return nil
	}
	registered := true
	x.s.store.View(func(tx *store.Tx) { registered = x.s.isRegistered(tx, x.call.ID.Subscription, namespace) })
	if registered {
		return nil
	}
	return provider.GatewayErrorf(409, "MissingSubscriptionRegistration",
		"The subscription is not registered to use namespace '%s'. See https://aka.ms/rps-not-found for how to register subscriptions.", namespace)
}
