import { posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import type { Section } from '../../web/site/searchIndex.ts'
import { sitePath } from './pages.ts'

export type Heading = { readonly depth: number; readonly text: string; readonly anchor: string }

export type RenderedPage = {
  readonly page: string
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
  /** links to other files of the repository, with their anchors */
  readonly links: readonly { readonly page: string; readonly anchor: string }[]
  /** names that a link may end with */
  readonly anchors: ReadonlySet<string>
}

/** Files that links may lead to. */
export type Places = {
  readonly isPage: (path: string) => boolean
  /** address of the repository's files without a page; absent: links to them become plain text */
  readonly sources: string | undefined
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Text of a token without marks. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table
        return [header, ...rows].map((row) => row.map((cell) => plain(cell.tokens)).join(' ')).join('\n')
      }
      if (token.type === 'list') return (token as Tokens.List).items.map((item) => plain(item.tokens)).join('\n')
      if (token.type === 'html') return ''
      return 'tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? String(token.text) : ' '
    })
    .join('')
}

/** Returns anchors of headings as code hosts make them: repeated ones get a number. */
function anchorMaker(): (text: string) => string {
  const used = new Map<string, number>()
  return (text) => {
    const base = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const count = used.get(base) ?? 0
    used.set(base, count + 1)
    return count === 0 ? base : `${base}-${count}`
  }
}

const isExternal = (href: string): boolean => /^[a-z]+:/.test(href)

/** Renders one page. @param page its path in the repository */
export function renderPage(page: string, source: string, { isPage, sources }: Places): RenderedPage {
  const marked = new Marked({ gfm: true })
  const anchorOf = anchorMaker()
  const [headings, links, sections]: [Heading[], { page: string; anchor: string }[], Section[]] = [[], [], []]
  const here = sitePath(page)
  const folder = posix.dirname(page)

  /** Returns where a link leads on the site; undefined: nowhere. */
  function target(href: string): string | undefined {
    if (isExternal(href)) return href
    const [file = '', anchor = ''] = href.split('#')
    const path = file === '' ? page : posix.normalize(posix.join(folder, file)).replace(/\/$/, '')
    const linked = [path, `${path}/README.md`].find(isPage)
    if (linked === undefined)
      return path.startsWith('docs/images/') ? posix.relative(posix.dirname(here), path.slice(5)) : sources && `${sources}/${path}`
    links.push({ page: linked, anchor })
    const relative = posix.relative(posix.dirname(here), sitePath(linked)) || posix.basename(here)
    return anchor === '' ? relative : `${relative}#${anchor}`
  }

  marked.use({
    renderer: {
      heading({ tokens, depth }): string {
        const heading = { depth, text: plain(tokens), anchor: anchorOf(plain(tokens)) }
        headings.push(heading)
        return `<h${depth} id="${escapeHtml(heading.anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }): string {
        const text = this.parser.parseInline(tokens)
        const leadsTo = target(href)
        return leadsTo === undefined ? text : `<a href="${escapeHtml(leadsTo)}">${text}</a>`
      },
      // a table or a line of code may be wider than the page: it scrolls, also by keyboard
      table(token): string {
        const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`
        const body = token.rows.map((cells) => row(cells, 'td')).join('')
        return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n<thead>${row(token.header, 'th')}</thead>\n<tbody>${body}</tbody></table></div>\n`
      },
      code: ({ text }): string => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      html: ({ text }): string => (text.startsWith('<!--') ? '' : text),
    },
  })
  const tokens = marked.lexer(source)
  const html = marked.parser(tokens)

  let at = -1
  const parts = new Map<number, string[]>()
  for (const token of tokens) {
    if (token.type === 'heading') at++
    else if (at >= 0) parts.set(at, [...(parts.get(at) ?? []), plain([token])])
  }
  const title = headings[0]?.text ?? page
  headings.forEach(({ text, anchor }, index) => {
    const id = index === 0 ? here : `${here}#${anchor}`
    sections.push({ id, page: title, heading: text, text: (parts.get(index) ?? []).join('\n') })
  })
  const named = Array.from(source.matchAll(/<a id="([^"]+)">/g), ([, id]) => id ?? '')
  return { page, title, html, headings, sections, links, anchors: new Set(['', ...named, ...headings.map(({ anchor }) => anchor)]) }
}
