/** A whole code span that is a variable, with what the page leaves out (`…_ADDR`, `_DLO`), lists (`A_B/C`) or cuts short (`A_*`). */
const spanned = /^(…?_?[A-Z][A-Z0-9_]{2,}(?:\/[A-Z]+)*\*?)(?:=.*)?$/
/** Names that stand for any name, and words of a command's usage. */
const placeholders: ReadonlySet<string> = new Set(['BASE_NODE_X', 'RETH_X', 'SVC_NODE_X', 'CLIENT_X'])
/** `…_BOOTNODES` after `…_LISTEN_IP`: what of the name before is left out cannot be told from its words. */
const misread: Readonly<Record<string, string>> = { OP_NODE_P2P_LISTEN_BOOTNODES: 'OP_NODE_P2P_BOOTNODES' }

/** `BASE_NODE_METRICS_ENABLED`, `…_ADDR` → `BASE_NODE_METRICS_ADDR`: the words that both names end in, or else the last one, are replaced. */
function completed(suffix: string, anchor: string): string {
  const [words, added] = [anchor.split('_'), suffix.split('_')]
  const shared = words.indexOf(added[0] ?? '')
  const replaced = words.at(-1) === added.at(-1) ? added.length : 1
  const name = [...words.slice(0, shared > 0 ? shared : -replaced), ...added].join('_')
  return misread[name] ?? name
}

/** `GETH_CACHE_GC/TRIE` → both names. */
function alternatives(name: string): readonly string[] {
  const [first = '', ...others] = name.split('/')
  return [first, ...others.map((word) => [...first.split('_').slice(0, -1), word].join('_'))]
}

/** What the names of a line of a section are the ends of. */
function prefixAt(heading: string, line: string, before: string): string {
  if (/^10\.1/.test(heading)) return 'TIPS_INGRESS_'
  if (/^10\.3/.test(heading)) return 'TIPS_AUDIT_'
  if (!/^6\./.test(heading)) return ''
  if (line.includes('**P2P**')) return 'BASE_NODE_P2P_'
  return line.includes('**Metrics**') || before === '' ? 'BASE_NODE_' : before
}

/** Code spans of the part of a line that names variables: in a table of section 6 its second column. */
function spansOf(line: string, heading: string): readonly string[] {
  const part = /^6\./.test(heading) && line.startsWith('|') ? (line.split('|')[2] ?? '') : line
  return [...part.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
}

function namesIn(line: string, heading: string, prefix: string): readonly string[] {
  let anchor = ''
  return spansOf(line, heading).flatMap((span) => {
    const inShell = [...span.matchAll(/\$\{?([A-Z_]+)/g)].map(([, name = '']) => name)
    const [, found] = spanned.exec(span) ?? []
    if (found === undefined || placeholders.has(found) || found.endsWith('_')) return inShell
    if (/^[…_]/.test(found)) return [completed(found.replace(/^…?_/, ''), anchor)]
    const isWhole = prefix === '' || /^(?:BASE|TIPS|OP|RETH)_/.test(found)
    const names = alternatives(isWhole ? found : `${prefix}${found}`)
    anchor = names[0] ?? ''
    return [...inShell, ...names]
  })
}

/** Every variable that the page for operators names; one that ends in `*` stands for all that begin so. */
export function operatorVariables(markdown: string): readonly string[] {
  const names = new Set<string>()
  let [heading, prefix] = ['', '']
  for (const line of markdown.split('\n')) {
    const [, title] = /^#+ (.*)/.exec(line) ?? []
    if (title !== undefined) [heading, prefix] = [title, '']
    prefix = prefixAt(heading, line, prefix)
    for (const name of namesIn(line, heading, prefix)) names.add(name)
  }
  return [...names].sort()
}
