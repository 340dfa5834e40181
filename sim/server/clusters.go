package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/containerservice"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// clusterView gives the list of managed clusters a revision that grows when the list changes.
type clusterView struct {
	s    *Server
	mu   sync.Mutex
	rev  int64
	seen [sha256.Size]byte
}

// newClusterView returns a view whose revisions begin at the start time, as those of guests do.
func newClusterView(s *Server) *clusterView { return &clusterView{s: s, rev: time.Now().UnixMilli()} }

func (v *clusterView) currentClusters() (int64, []containerservice.Cluster) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var clusters []containerservice.Cluster
	v.s.store.View(func(tx *store.Tx) { clusters = containerservice.ListClusters(v.s.internalCall(tx, "GET")) })
	raw, err := json.Marshal(clusters)
	if sum := sha256.Sum256(raw); err != nil || sum != v.seen {
		v.seen = sum
		v.rev++
	}
	return v.rev, clusters
}

// internalCall returns a call of the simulator itself.
func (s *Server) internalCall(tx *store.Tx, method string) *provider.Call {
	return &provider.Call{Tx: tx, Env: s.env, Method: method, Header: http.Header{}, BaseURL: "https://management.azure.com",
		APIVersion: "2025-10-01", Internal: true}
}

func (s *Server) controlClusters(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, _ := strconv.ParseInt(q.Get("after"), 10, 64)
	secs, _ := strconv.Atoi(q.Get("wait"))
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(min(secs, 300))*time.Second)
	defer cancel()
	for {
		changed := s.store.Changed()
		rev, clusters := s.aks.currentClusters()
		if rev > after || secs <= 0 || ctx.Err() != nil {
			writeJSON(w, 200, map[string]any{"revision": rev, "clusters": clusters})
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-s.stop:
			writeRefusal(w, 503, "the simulator is stopping")
			return
		}
	}
}

func (s *Server) controlClusterListener(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID      string `json:"id"`
		Address string `json:"address"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	if _, _, err := net.SplitHostPort(in.Address); r.Method == "PUT" && err != nil {
		writeRefusal(w, 400, "address must be host:port")
		return
	}
	err := s.store.Update(func(tx *store.Tx) error {
		key := containerservice.ListenerKey(in.ID)
		if r.Method == "DELETE" {
			tx.SetMeta(key, nil) // gone with its cluster, or never there: the same
			return nil
		}
		if tx.Get(in.ID) == nil {
			return provider.Errorf(404, "NotFound", "no managed cluster has the ID %q", in.ID)
		}
		tx.SetMeta(key, in.Address)
		return nil
	})
	answerEmpty(w, err)
}

func (s *Server) controlDemand(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID    string `json:"id"`
		Pool  string `json:"pool"`
		Nodes int    `json:"nodes"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	if in.Nodes < 0 {
		writeRefusal(w, 400, "nodes must not be negative")
		return
	}
	answerEmpty(w, s.store.Update(func(tx *store.Tx) error {
		return containerservice.SetDemand(s.internalCall(tx, "POST"), in.ID, in.Pool, in.Nodes)
	}))
}

func (s *Server) controlAutoUpgrade(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"id"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	answerEmpty(w, s.store.Update(func(tx *store.Tx) error {
		return containerservice.AutoUpgrade(s.internalCall(tx, "POST"), in.ID)
	}))
}

// answerEmpty ends a control request that has no body to show.
func answerEmpty(w http.ResponseWriter, err error) {
	var e *provider.Error
	switch {
	case err == nil:
		w.WriteHeader(204)
	case errors.As(err, &e) && e.Status > 0:
		writeRefusal(w, e.Status, e.Message)
	default:
		writeRefusal(w, 500, err.Error())
	}
}

// managedCluster ends a connection to the API server of a managed cluster, whose names Azure keeps; false when host is none of them.
func (p *path) managedCluster(host string, port int) bool {
	r := containerservice.ByName(p.c, host)
	if r == nil {
		return false
	}
	p.noteStep("%s is the API server of managed cluster %s", host, r.ID)
	if port != 443 {
		p.stopAt("rule", "the API server of managed cluster %s answers on port 443 only, not %d", r.ID, port)
		return true
	}
	if ok, why := containerservice.IsAnswering(r); !ok {
		p.stopAt("listener", "%s", why)
		return true
	}
	var addr string
	if !p.c.ReadNote(containerservice.ListenerKey(r.ID), &addr) {
		p.stopAt("listener", "nothing listens for the API server of managed cluster %s", r.ID)
		return true
	}
	p.noteStep("it listens at %s", addr)
	p.route.Address = addr
	return true
}
