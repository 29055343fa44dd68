import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CompatCase, readCompatCases, runCompatCases } from '#test/harness/rpcCompat'
import { compatDir, compatHead, importCompatChain, serveCompatChain } from '#test/harness/rpcCompatChain'

/** What of the suite cannot apply to a node of an OP chain, and why. Nothing else is left out. */
const notApplicable: Readonly<Record<string, string>> = {
  'testing_buildBlockV1/build-block-empty-transactions.io':
    'a testing interface of Ethereum’s clients: our blocks are built by the sequencer, with L1 attributes',
  'testing_buildBlockV1/build-block-invalid-transaction.io': 'as above',
  'eth_sendRawTransaction/send-blob-tx.io': 'there is no blob pool: OP chains have no blob transactions',
}

const made = importCompatChain()
const server = await serveCompatChain(made)
afterAll(() => server[Symbol.asyncDispose]())

const cases = readCompatCases(compatDir)
const byFile = Map.groupBy(cases, ({ file }) => file)
let wrong: ReadonlyMap<string, string>
beforeAll(async () => {
  wrong = await runCompatCases(
    server.url,
    cases.filter(({ file }) => !(file in notApplicable)),
  )
})

it('execution/ethereumChain: the chain of the conformance suite, from Homestead to its second BPO, ends in the head that it names', () => {
  expect(made.chain.head).toEqual({ number: 54, hash: compatHead() })
})

it('rpc-compat: the suite is whole', () => {
  expect([byFile.size, cases.length]).toEqual([186, 188])
  for (const file of Object.keys(notApplicable)) expect(byFile.has(file)).toBe(true)
})

it.each([...byFile.keys()].filter((file) => !(file in notApplicable)))('rpc-compat: %s', (file) => {
  const of = byFile.get(file) as readonly CompatCase[]
  expect(wrong.get(file), of.map(({ request }) => request.slice(0, 300)).join('\n')).toBeUndefined()
})
