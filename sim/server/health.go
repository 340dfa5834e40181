package server

import (
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resourcehealth"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// SetHealth sets the health of a resource in Resource Health; the zero Status means Available again.
func (s *Server) SetHealth(id string, status resourcehealth.Status) error {
	return s.store.Update(func(tx *store.Tx) error { return resourcehealth.SetStatus(tx, id, status) })
}

func (s *Server) controlHealth(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"id"`
		resourcehealth.Status
	}
	if !decodeControl(w, r, &in) {
		return
	}
	if err := s.SetHealth(in.ID, in.Status); err != nil {
		writeRefusal(w, 400, err.Error())
		return
	}
	w.WriteHeader(204)
}
