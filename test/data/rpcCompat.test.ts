import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toQuantity } from '#lib/hex'
import { type CompatCase, readCompatCases, runCompatCases } from '#test/harness/rpc/compat'
import { compatDir, compatHead, importCompatChain, serveCompatChain } from '#test/harness/rpc/compatChain'
import { encodeBlock } from '#types/block'

/** Cases of the suite that do not apply to a node of an OP chain, with the reason. All others must pass. */
const notApplicable: Readonly<Record<string, string>> = {
  'testing_buildBlockV1/build-block-empty-transactions.io':
    'testing interface of Ethereum’s clients: the sequencer builds OP blocks, with L1 attributes',
  'testing_buildBlockV1/build-block-invalid-transaction.io': 'as above',
  'eth_sendRawTransaction/send-blob-tx.io': 'no blob pool: OP chains have no blob transactions',
}

const made = importCompatChain()
const server = await serveCompatChain(made)
afterAll(() => server[Symbol.asyncDispose]())

/** First block with the rules of the compiled interpreter, which can be traced. */
const paris = 36
const numbers = Array.from({ length: 54 }, (_, i) => i + 1)

async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(server.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: unknown }).result
}

const cases = readCompatCases(compatDir)
const byFile = Map.groupBy(cases, ({ file }) => file)
let wrong: ReadonlyMap<string, string>
beforeAll(async () => {
  wrong = await runCompatCases(
    server.url,
    cases.filter(({ file }) => !(file in notApplicable)),
  )
})

it("ethereum/chain: imports the conformance suite's chain, from Homestead to its second BPO fork, to the given head", () => {
  expect(made.chain.head).toEqual({ number: 54, hash: compatHead() })
})

it('ethereum/chain: reads the imported blocks, with ommers and withdrawals, from the store byte for byte', () => {
  using view = made.chain.view()
  const encoded = numbers.map((number) => {
    const hash = view.canonicalHash(number)
    const found = hash && view.block(hash)
    return found ? encodeBlock(found.block) : new Uint8Array(0)
  })
  expect(Buffer.concat(encoded).equals(readFileSync(resolve(compatDir, 'chain.rlp')))).toBe(true)
})

it.each(numbers.filter((number) => number >= paris))('debug: traces block %i with the gas of its receipts', async (number) => {
  const block = toQuantity(number)
  const traces = (await ask('debug_traceBlockByNumber', [block, { tracer: 'callTracer' }])) as { result: { gasUsed: string } }[]
  const receipts = (await ask('eth_getBlockReceipts', [block])) as { gasUsed: string }[]
  expect(traces.map(({ result }) => result.gasUsed)).toEqual(receipts.map(({ gasUsed }) => gasUsed))
})

it('rpc-compat: finds all cases of the suite', () => {
  expect([byFile.size, cases.length]).toEqual([186, 188])
  for (const file of Object.keys(notApplicable)) expect(byFile.has(file)).toBe(true)
})

it.each([...byFile.keys()].filter((file) => !(file in notApplicable)))('rpc-compat: %s', (file) => {
  const of = byFile.get(file) as readonly CompatCase[]
  expect(wrong.get(file), of.map(({ request }) => request.slice(0, 300)).join('\n')).toBeUndefined()
})
