package delivery

// slots shares the attempts that may be under way at once: by turns among the
// companies that have something to send, and by turns among each one's endpoints.
type slots struct {
	limits Limits
	total  int
	shares map[int64]*share
	line   []*share // companies with lanes in line
}

// share is one company's part.
type share struct {
	company  int64
	inFlight int
	lanes    []*lane // in line
	inLine   bool
}

func newSlots(limits Limits) slots { return slots{limits: limits, shares: map[int64]*share{}} }

// reserve is what every endpoint may have under way even when its company, or
// everyone together, is at the limit: receivers that hang fill those limits.
func (s *slots) reserve() int { return min(slowStart, s.limits.PerEndpoint) }

func (s *slots) share(company int64) *share {
	sh := s.shares[company]
	if sh == nil {
		sh = &share{company: company}
		s.shares[company] = sh
	}
	return sh
}

// offer puts a lane in line if it could start something.
func (s *slots) offer(l *lane) {
	if l.waiting || !l.ready() {
		return
	}
	l.waiting = true
	sh := s.share(l.key.CompanyID)
	sh.lanes = append(sh.lanes, l)
	if !sh.inLine {
		sh.inLine = true
		s.line = append(s.line, sh)
	}
}

// ready says whether the lane's own limits let it start something.
func (l *lane) ready() bool { return len(l.queue) > 0 && l.inFlight < l.window }

// next takes a slot for the lane whose turn it is; nil if none can start anything.
func (s *slots) next() *lane {
	for range len(s.line) {
		sh := s.line[0]
		s.line = s.line[1:]
		l := s.turn(sh)
		if sh.inLine = len(sh.lanes) > 0; sh.inLine {
			s.line = append(s.line, sh)
		}
		if l != nil {
			s.total++
			sh.inFlight++
			l.inFlight++
			return l
		}
		s.tidy(sh)
	}
	return nil
}

// turn gives the first of a company's lanes that can start something, and puts
// it last. Lanes that have nothing to start, or whose own window is full, leave
// the line.
func (s *slots) turn(sh *share) *lane {
	for range len(sh.lanes) {
		l := sh.lanes[0]
		sh.lanes = sh.lanes[1:]
		if !l.ready() {
			l.waiting = false
			continue
		}
		sh.lanes = append(sh.lanes, l)
		if s.allows(sh, l) {
			return l
		}
	}
	return nil
}

func (s *slots) allows(sh *share, l *lane) bool {
	if l.inFlight < s.reserve() {
		return s.total < 2*s.limits.Total
	}
	return sh.inFlight < s.limits.PerCompany && s.total < s.limits.Total
}

// give returns a slot.
func (s *slots) give(l *lane) {
	sh := s.share(l.key.CompanyID)
	s.total--
	sh.inFlight--
	l.inFlight--
	s.tidy(sh)
}

func (s *slots) tidy(sh *share) {
	if sh.inFlight == 0 && !sh.inLine {
		delete(s.shares, sh.company)
	}
}
