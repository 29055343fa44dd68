import { posix } from 'node:path'
import { escapeHtml, type RenderedPage } from './markdown.ts'
import { type NavSection, sitePath } from './pages.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

/** Returns the HTML document of a page. @param titles titles of all pages by their path in the repository */
export function documentOf(
  { page, title, html, headings }: RenderedPage,
  { navigation, titles, version }: { navigation: readonly NavSection[]; titles: ReadonlyMap<string, string>; version: string },
): string {
  const here = sitePath(page)
  const to = (path: string): string => posix.relative(posix.dirname(here), path) || posix.basename(here)
  const root = posix.relative(posix.dirname(here), '')
  const link = (linked: string): string =>
    `<li><a href="${to(sitePath(linked))}"${linked === page ? ' aria-current="page"' : ''}>${escapeHtml(titles.get(linked) ?? linked)}</a></li>`
  const menu = navigation.map(({ title: name, pages }) => `<h2>${name}</h2>\n<ul>${pages.map(link).join('\n')}</ul>`).join('\n')
  const contents = headings.filter(({ depth }) => depth === 2)
  const shownContents = contents.length > 2 && contents.length < 60 ? contents : []
  const toc = shownContents.map(({ text, anchor }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`).join('\n')
  return `<!doctype html>
<html lang="en" data-root="${root === '' ? '' : `${root}/`}" data-path="${here}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)} – Basalt ${escapeHtml(version)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to('site.css')}">
<script type="module" src="${to('site.js')}"></script>
</head>
<body>
<a class="skip" href="#contents">Skip to the contents</a>
<header>
<a class="name" href="${to('index.html')}">Basalt</a>
<form role="search"><label for="search" class="unseen">Search</label><input id="search" type="search" placeholder="Search" autocomplete="off">
<span id="found" role="status"></span><ul id="results" hidden></ul></form>
<label>Version <select id="version"><option>${escapeHtml(version)}</option></select></label>
</header>
<div class="columns">
<nav aria-label="Pages"><details id="pages"><summary>Pages</summary>
${menu}
</details></nav>
<main id="contents">
${toc === '' ? '' : `<details class="toc"><summary>On this page</summary><ul>${toc}</ul></details>`}
${html}</main>
</div>
</body>
</html>
`
}
