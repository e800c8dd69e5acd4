import { s, h } from './dom.js';

/** W is the width that labels are written for: what is drawn shrinks to its card, and a phone's is half as wide. */
const W = matchMedia('(max-width: 40rem)').matches ? 340 : 720;
const H = 200;
const LEFT = 60;
const BOTTOM = 22;

function frame(title, top, unit, from, to) {
  const svg = s('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': title });
  for (let i = 0; i <= 4; i += 1) {
    const y = 8 + ((H - BOTTOM - 8) * i) / 4;
    svg.append(s('line', { class: 'axis', x1: LEFT, x2: W, y1: y, y2: y }));
    svg.append(s('text', { x: LEFT - 6, y: y + 4, 'text-anchor': 'end' }, tidy((top * (4 - i)) / 4) + (i === 0 ? unit : '')));
  }
  const time = (t) => new Date(t).toLocaleString([], { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
  svg.append(s('text', { x: LEFT, y: H - 6 }, time(from)), s('text', { x: W, y: H - 6, 'text-anchor': 'end' }, time(to)));
  return svg;
}

/** tidy writes a number with two digits that matter. */
const tidy = (n) => String(Number(n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2)));

function scales(points, top) {
  const from = points[0].at;
  const to = Math.max(points[points.length - 1].at, from + 1);
  return {
    from, to,
    x: (at) => LEFT + ((W - LEFT - 4) * (at - from)) / (to - from),
    y: (v) => H - BOTTOM - ((H - BOTTOM - 8) * Math.min(v, top)) / top,
  };
}

/** lines draws up to two series of {at, values}. */
export function lines(title, points, unit) {
  if (points.length === 0) return h('p', { class: 'soft' }, 'Nothing measured yet.');
  const top = Math.max(...points.flatMap((p) => p.values)) * 1.1 || 1;
  const { from, to, x, y } = scales(points, top);
  const svg = frame(title, top, unit, from, to);
  points[0].values.forEach((_, i) => {
    if (points.length === 1) {
      svg.append(s('circle', { class: i ? 'two' : 'one', cx: x(points[0].at) + 4, cy: y(points[0].values[i]), r: 3 }));
      return;
    }
    const path = points.map((p, n) => `${n ? 'L' : 'M'}${x(p.at).toFixed(1)},${y(p.values[i]).toFixed(1)}`).join('');
    svg.append(s('path', { class: i ? 'two' : 'one', d: path }));
  });
  return svg;
}

/** bars draws stacked counts per hour of {at, values}. */
export function bars(title, points) {
  if (points.length === 0) return h('p', { class: 'soft' }, 'Nothing happened yet.');
  const hour = 3600e3;
  const top = Math.max(...points.map((p) => p.values.reduce((a, b) => a + b, 0))) || 1;
  const from = points[0].at;
  const to = points[points.length - 1].at + hour;
  const svg = frame(title, top, '', from, to);
  const wide = Math.max(2, ((W - LEFT - 4) * hour) / (to - from) - 2);
  for (const p of points) {
    let y = H - BOTTOM;
    p.values.forEach((v, i) => {
      const tall = ((H - BOTTOM - 8) * v) / top;
      y -= tall;
      if (v) svg.append(s('rect', { class: `bar${i + 1}`, x: LEFT + ((W - LEFT - 4) * (p.at - from)) / (to - from) + 1, y, width: Math.min(wide, 60), height: tall }, s('title', {}, `${v}`)));
    });
  }
  return svg;
}

/** graph draws a neighbourhood: the centre, its neighbours around it, theirs further out. */
export function graph(view, link) {
  const rings = new Map();
  for (const n of view.nodes) {
    const ring = Math.min(n.distance, 2);
    rings.set(ring, [...(rings.get(ring) || []), n]);
  }
  const [wide, tall] = [1160, 780];
  const at = new Map();
  for (const [ring, all] of rings) {
    const [rx, ry] = [[0, 0], [210, 165], [350, 365]][ring];
    const half = Math.ceil(all.length / 2);
    all.forEach((n, i) => {
      if (ring < 2) {
        const angle = (2 * Math.PI * i) / all.length - Math.PI / 2;
        at.set(n.id, [wide / 2 + rx * Math.cos(angle), tall / 2 + ry * Math.sin(angle)]);
        return;
      }
      // Evenly from top to bottom on either side: labels stand below each other.
      const [side, row, rows] = i < half ? [1, i, half] : [-1, i - half, all.length - half];
      const y = 2 * ((row + 0.5) / rows) - 1;
      at.set(n.id, [wide / 2 + side * Math.max(0.4, Math.sqrt(1 - y * y)) * rx, tall / 2 + y * ry]);
    });
  }
  const svg = s('svg', { class: 'graph', viewBox: `0 0 ${wide} ${tall}`, role: 'group', 'aria-label': `Neighbours of ${view.id}` });
  for (const e of view.edges) {
    const [a, b] = [at.get(e.from), at.get(e.to)];
    if (!a || !b) continue;
    svg.append(s('line', { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, s('title', {}, `${e.from} ${e.type} ${e.to}`)));
    if (e.from === view.id || e.to === view.id) {
      svg.append(s('text', { class: 'kind', x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 - 3, 'text-anchor': 'middle' }, e.type.toLowerCase().replaceAll('_', ' ')));
    }
  }
  for (const n of view.nodes) {
    const [x, y] = at.get(n.id);
    // Labels of the outer ring point outwards, so that they keep clear of each other.
    const side = n.distance > 1 ? (x < wide / 2 ? 'end' : 'start') : 'middle';
    const label = { x: x + { end: -10, start: 10, middle: 0 }[side], y: y + (side === 'middle' ? 26 : 4), 'text-anchor': side };
    svg.append(s('a', { href: link(n.id), class: n.id === view.id ? 'centre' : null, 'aria-label': `${n.id} ${n.title || ''}` },
      s('title', {}, `${n.id} ${n.title || ''}`), s('circle', { cx: x, cy: y, r: n.distance > 1 ? 6 : 10 }), s('text', label, n.id)));
  }
  return svg;
}
