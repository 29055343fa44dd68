import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { toRollupJson } from '#chainspec/rollupConfig'
import { readRecordedChain } from '#devnet/recordedChain'
import { chooseChain, readGenesisFile } from './chosenChain.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-chain-'))
afterAll(() => rmSync(dir, { recursive: true }))
function file(name: string, json: unknown): string {
  const path = join(dir, name)
  writeFileSync(path, JSON.stringify(json))
  return path
}
const recorded = readRecordedChain()
const rollup = file('rollup.json', recorded.rollupJson)
const genesis = file('genesis.json', recorded.genesisJson)
const none = { network: undefined, 'rollup.config': undefined, genesis: undefined }

it('cli/chosenChain: returns config and genesis of a built-in chain', () => {
  const chain = chooseChain({ ...none, network: 'base-sepolia' })
  expect(chain).toMatchObject({ name: 'base-sepolia', warnings: [], config: { l2ChainId: 84_532, l1ChainId: 11_155_111 } })
  expect(chain.genesis.header.timestamp).toBe(chain.config.genesis.l2TimeSec)
})

it('cli/chosenChain: reads a custom chain from two files', () => {
  const chain = chooseChain({ ...none, 'rollup.config': rollup, genesis })
  expect(chain.name).toBe(`chain ${recorded.config.l2ChainId}`)
  expect(toRollupJson(chain.config)).toEqual(toRollupJson(recorded.config))
  expect(chain.genesis).toEqual(recorded.genesis)
})

it('cli/chosenChain: warns of each unknown entry in either file, by name', () => {
  const odd = file('odd.json', { ...(recorded.rollupJson as object), strange_key: 99 })
  const { config } = recorded.genesisJson as { config: object }
  const oddGenesis = file('oddGenesis.json', { ...(recorded.genesisJson as object), config: { ...config, strangeKey: 7 } })
  const { warnings } = chooseChain({ ...none, 'rollup.config': odd, genesis: oddGenesis })
  expect(warnings).toEqual([expect.stringContaining('strange_key'), expect.stringContaining('config.strangeKey')])
})

it.each([
  {
    what: 'no chain',
    given: none,
    code: 'MISSING_FLAG',
    text: 'base or base-sepolia; for a custom chain give --rollup.config FILE and --genesis FILE',
  },
  { what: 'a rollup config alone', given: { ...none, 'rollup.config': rollup }, code: 'MISSING_FLAG', text: '--genesis is needed' },
  { what: 'a genesis alone', given: { ...none, genesis }, code: 'MISSING_FLAG', text: '--rollup.config is needed' },
  {
    what: 'a built-in chain with files',
    given: { ...none, network: 'base', genesis },
    code: 'CONFLICTING_FLAGS',
    text: '--network, --rollup.',
  },
  { what: 'swapped files', given: { ...none, 'rollup.config': genesis, genesis: rollup }, code: 'INVALID_CONFIG', text: 'rollup config' },
] as const)('cli/chosenChain: refuses $what ($code)', ({ given, code, text }) => {
  expect(() => chooseChain(given)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(text) }))
})

it("cli/chosenChain: accepts a genesis as the difference from Base's", () => {
  const account = `0x${'11'.repeat(20)}`
  const { config } = recorded.genesisJson as { config: object }
  const note = file('note.json', { config, genesisTimestamp: 1_800_000_000, extraAlloc: { [account]: { balance: '0x7' } } })
  const { genesis: read } = readGenesisFile(note)
  expect(read.header.timestamp).toBe(1_800_000_000)
  expect(read.accounts).toHaveLength(2_064 + 1)
  expect(read.accounts.at(-1)).toMatchObject({ address: account, balance: 7n })
})
