package server

import (
	"net/http"
)

type guestView struct{ s *Server }

func newGuestView(s *Server) *guestView { return &guestView{s: s} }

func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	http.NotFound(w, r)
}
