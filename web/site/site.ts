// The script of the documentation: search, and the choice of a version.
import MiniSearch, { type SearchResult } from 'minisearch'
import { indexOptions, type Section } from './searchIndex.ts'

/** path from this page to the root of its version, with a slash at its end */
const root = document.documentElement.dataset['root'] ?? ''
const maxResults = 12

let loading: Promise<MiniSearch<Section>> | undefined
/** Loads the index, once. */
function loadIndex(): Promise<MiniSearch<Section>> {
  loading ??= fetch(`${root}search.json`).then(async (response) => MiniSearch.loadJSON(await response.text(), indexOptions))
  return loading
}

function resultItem({ id, page, heading }: SearchResult): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = root + String(id)
  link.textContent = heading === page ? heading : `${page}: ${heading}`
  item.append(link)
  return item
}

function startSearch(field: HTMLInputElement, list: HTMLUListElement, count: HTMLElement): void {
  const show = async (): Promise<void> => {
    const words = field.value.trim()
    const found = words === '' ? [] : (await loadIndex()).search(words)
    if (field.value.trim() !== words) return // a later key is being searched
    list.replaceChildren(...found.slice(0, maxResults).map(resultItem))
    list.hidden = found.length === 0
    count.textContent = words === '' ? '' : `${found.length} found`
  }
  field.addEventListener('focus', () => void loadIndex(), { once: true })
  field.addEventListener('input', () => void show())
  field.form?.addEventListener('submit', (event) => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  field.form?.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    field.value = ''
    void show()
  })
}

/** Fills the choice of versions. A version without this page opens at its start. */
async function startVersions(choice: HTMLSelectElement): Promise<void> {
  const response = await fetch(`${root}../versions.json`)
  if (!response.ok) return
  const versions = (await response.json()) as readonly string[]
  const current = choice.value
  choice.replaceChildren(...versions.map((version) => new Option(version, version, false, version === current)))
  choice.addEventListener('change', async () => {
    const start = `${root}../${choice.value}/`
    const same = start + (document.documentElement.dataset['path'] ?? '')
    const { ok } = await fetch(same, { method: 'HEAD' })
    location.href = ok ? same : start
  })
}

// a wide page has room for the menu
const menu = document.querySelector('#pages')
if (menu instanceof HTMLDetailsElement) menu.open = matchMedia('(min-width: 900px)').matches

const [field, list, count, choice] = ['#search', '#results', '#found', '#version'].map((name) => document.querySelector(name))
if (field instanceof HTMLInputElement && list instanceof HTMLUListElement && count instanceof HTMLElement) startSearch(field, list, count)
if (choice instanceof HTMLSelectElement) void startVersions(choice)
