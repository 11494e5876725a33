// Distances from now move on while a page is open. The steps are those of Clock.Relative.
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

function relative(seconds) {
  const ahead = seconds < 0;
  const far = Math.abs(seconds);
  if (far < 45) return ahead ? "in a moment" : "just now";
  let words;
  if (far < hour) words = `${Math.max(1, Math.round(far / minute))} min`;
  else if (far < day) words = `${Math.floor(far / hour)} h`;
  else if (far < 7 * day) words = far < 2 * day ? "1 day" : `${Math.floor(far / day)} days`;
  else return null; // a date, which stays
  return ahead ? `in ${words}` : `${words} ago`;
}

setInterval(() => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const words = relative((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (words && time.textContent !== words) time.textContent = words;
  }
}, 30000);
