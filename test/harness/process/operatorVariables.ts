/** Code span that is a variable. The page abbreviates names: `…_ADDR`, `_DLO`, `A_B/C`, `A_*`. */
const spanned = /^(…?_?[A-Z][A-Z0-9_]{2,}(?:\/[A-Z]+)*\*?)(?:=.*)?$/
/** Placeholders for names, and words of a command's usage. */
const placeholders: ReadonlySet<string> = new Set(['BASE_NODE_X', 'RETH_X', 'SVC_NODE_X', 'CLIENT_X'])
/** Names whose abbreviation cannot be expanded by its words: `…_BOOTNODES` after `…_LISTEN_IP`. */
const misread: Readonly<Record<string, string>> = { OP_NODE_P2P_LISTEN_BOOTNODES: 'OP_NODE_P2P_BOOTNODES' }

/** Expands `…_ADDR` after `BASE_NODE_METRICS_ENABLED` to `BASE_NODE_METRICS_ADDR`: replaces the words that both names end in, or else the last one. */
function completed(suffix: string, anchor: string): string {
  const [words, added] = [anchor.split('_'), suffix.split('_')]
  const shared = words.indexOf(added[0] ?? '')
  const replaced = words.at(-1) === added.at(-1) ? added.length : 1
  const name = [...words.slice(0, shared > 0 ? shared : -replaced), ...added].join('_')
  return misread[name] ?? name
}

/** Expands `GETH_CACHE_GC/TRIE` to both names. */
function alternatives(name: string): readonly string[] {
  const [first = '', ...others] = name.split('/')
  return [first, ...others.map((word) => [...first.split('_').slice(0, -1), word].join('_'))]
}

/** Prefix of the abbreviated names in a line of a section. */
function prefixAt(heading: string, line: string, before: string): string {
  if (/^10\.1/.test(heading)) return 'TIPS_INGRESS_'
  if (/^10\.3/.test(heading)) return 'TIPS_AUDIT_'
  if (!/^6\./.test(heading)) return ''
  if (line.includes('**P2P**')) return 'BASE_NODE_P2P_'
  return line.includes('**Metrics**') || before === '' ? 'BASE_NODE_' : before
}

/** Code spans of the part of a line that names variables: in a table of section 6 the second column. */
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

/** Returns every variable that the page for operators names. A name that ends in `*` covers all names with that prefix. */
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
