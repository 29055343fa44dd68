import { expect, it } from 'vitest'
import type { PendingNews } from '#rpc/pendingPorts'
import { createManualClock, settle } from '#test/harness/clock'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { pageFiles } from './files.ts'
import { SampleHistory } from './history.ts'
import { createLocalPage, type PageSource } from './page.ts'
import { historyColumns, type PageState } from './state.ts'
import { BlockStream } from './stream.ts'

const l2Ref = (number: number) => ({ number, hash: `0x${'ab'.repeat(32)}`, timestamp: 100 }) as never

/** A node with a counter of blocks, whose scrapes are counted. */
function node(changes: Partial<PageSource> = {}) {
  const clock = createManualClock()
  const state = { scrapes: 0, blocks: 0, problems: [] as string[], failures: [] as unknown[] }
  const source: PageSource = {
    clock,
    scrape: async () => {
      state.scrapes++
      return `basalt_execution_blocks_total ${state.blocks}\n`
    },
    problems: () => state.problems,
    ...{ version: 'v1', chainId: 8453, feeds: undefined, heads: undefined, isSyncing: () => false },
    ...changes,
  }
  const page = createLocalPage(source, (error) => state.failures.push(error))
  const pages = page.pages()
  const read = async (query = ''): Promise<PageState> => {
    const answer = await pages.get('/page/state')?.(new URLSearchParams(query))
    return JSON.parse(answer !== undefined && 'content' in answer ? answer.content : '') as PageState
  }
  return { clock, state, page, read }
}

it('page/page: answers with the facts of the node and its reasons', async () => {
  const { page, state, read } = node({ heads: () => ({ unsafe: l2Ref(7), safe: l2Ref(6), finalized: l2Ref(5) }) })
  using _page = page
  state.problems = ['the disk is full']
  const { sample, version, hasBlocks } = await read()
  expect({ version, hasBlocks }).toEqual({ version: 'v1', hasBlocks: false })
  expect(sample.status).toMatchObject({
    network: 'base',
    ready: false,
    problems: ['the disk is full'],
    sync: { phase: 'following' },
    silent: [],
  })
  expect(sample.status.heads.unsafe?.number).toBe(7)
})

it('page/page: adds a row every ten seconds, and sends a viewer the rows that it lacks', async () => {
  const { page, clock, state, read } = node()
  using _page = page
  for (let at = 1; at <= 3; at++) {
    state.blocks = at * 50
    await clock.advanceMs(10_000)
    await settle()
  }
  const { history } = await read()
  expect(history).toMatchObject({ everySec: 10, from: 0 })
  expect(history.rows.map((row) => row[historyColumns.indexOf('blocksPerSec')])).toEqual([null, 5, 5])
  expect((await read('row=2')).history).toMatchObject({ from: 2, rows: [expect.any(Array)] })
  expect((await read('row=99')).history).toMatchObject({ from: 3, rows: [] })
  for (const bad of ['row=-1', 'row=x', 'row=1e99', 'row=1.5&entry=%00']) expect((await read(bad)).history.from).toBe(0)
})

it('page/page: one sample is for all viewers of a second, and nobody is sampled after the page is closed', async () => {
  const { page, clock, state, read } = node()
  await Promise.all(Array.from({ length: 10 }, () => read()))
  expect(state.scrapes).toBe(1)
  await clock.advanceMs(1_000)
  await read()
  expect(state.scrapes).toBe(2)
  page[Symbol.dispose]()
  await clock.advanceMs(60_000)
  expect(state.scrapes).toBe(2)
})

it('page/page: goes on after a sample that failed', async () => {
  let fails = true
  const { page, clock, state, read } = node({
    scrape: async () => {
      if (fails) throw new Error('no scrape')
      return ''
    },
  })
  using _page = page
  await clock.advanceMs(10_000)
  await settle()
  fails = false
  await clock.advanceMs(10_000)
  await settle()
  expect(state.failures).toHaveLength(1)
  expect((await read()).history.rows).toHaveLength(1)
})

it('page/history: keeps the newest rows in memory of a fixed size', () => {
  const history = new SampleHistory(3)
  const { bytes } = history
  for (let at = 0; at < 10; at++) history.add([at])
  expect(history.since(0)).toEqual({ from: 7, rows: [7, 8, 9].map((at) => [at, ...Array(historyColumns.length - 1).fill(null)]) })
  expect(history.since(9).rows).toHaveLength(1)
  expect(history.bytes).toBe(bytes)
})

const blockOf = (number: number, transactions: number) =>
  ({
    hash: `0x${number}`,
    block: { header: { number, gasUsed: 21_000n }, transactions: Array(transactions).fill(new Uint8Array(1)) },
  }) as never

it('page/stream: has blocks and flashblocks while somebody looks, at most a hundred', async () => {
  const clock = createManualClock()
  const heads = scriptedFeed()
  let tell: ((news: readonly PendingNews[]) => void) | undefined
  const preconfirmed = {
    subscribe: (listener: typeof tell) => {
      tell = listener
      return {
        [Symbol.dispose]() {
          tell = undefined
        },
      }
    },
  }
  using stream = new BlockStream(clock, { heads, preconfirmed })
  expect(tell).toBeUndefined()
  expect(stream.since(0)).toEqual([])
  tell?.([{ kind: 'flashblock', pending: { number: 5, index: 2, header: { gasUsed: 3n }, transactions: [] } } as never])
  heads.tell(blockOf(5, 2))
  expect(stream.since(0)).toMatchObject([
    { seq: 1, kind: 'flashblock', number: 5, index: 2, hash: null, gasUsed: 3 },
    { seq: 2, kind: 'block', number: 5, index: null, hash: '0x5', transactions: 2, gasUsed: 21_000 },
  ])
  expect(stream.since(1)).toHaveLength(1)
  for (let number = 6; number < 300; number++) heads.tell(blockOf(number, 0))
  expect(stream.since(0)).toHaveLength(100)
  await clock.advanceMs(20_000)
  expect(tell).toBeUndefined()
})

it('page/files: has the built files, which load nothing from elsewhere', async () => {
  const files = pageFiles()
  expect([...files.keys()]).toEqual(['/', '/page/page.js', '/page/page.css'])
  const html = files.get('/')?.()
  if (html === undefined || !('content' in html)) throw new Error('no page')
  expect(html.headers['content-security-policy']).toContain("default-src 'none'")
  expect(html.content.match(/(?:src|href)="[^"]*"/g)).toEqual([
    expect.stringMatching(/^href="data:/),
    'src="/page/page.js"',
    'href="/page/page.css"',
  ])
})
