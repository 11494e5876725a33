package delivery

// slots shares the attempts that may be under way at once: by turns among the
// companies that have something to send, and by turns among each one's endpoints.
type slots struct {
	limits  Limits
	total   int
	waiting int // lanes in line
	shares  map[int64]*share
	line    []*share // companies with lanes in line
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
	s.waiting++
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
	for range s.waiting {
		sh := s.line[0]
		s.line = s.line[1:]
		l := sh.lanes[0]
		sh.lanes = sh.lanes[1:]
		starts := l.ready() && s.allows(sh, l)
		if l.ready() {
			sh.lanes = append(sh.lanes, l)
		} else {
			l.waiting = false
			s.waiting--
		}
		if sh.inLine = len(sh.lanes) > 0; sh.inLine {
			s.line = append(s.line, sh)
		}
		if starts {
			s.total++
			sh.inFlight++
			l.inFlight++
			return l
		}
		s.tidy(sh)
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
