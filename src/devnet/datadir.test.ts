import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parseAddress, parseHash } from '#types/ids'
import { agreeWithKept, type FixedOptions, type KeptDevnet, partFolders, readDevnet, writeDevnet } from './datadir.ts'
import { holdDatadir } from './datadirLock.ts'
import { makeDevnetChain } from './devnetChain.ts'
import { forksUpTo } from './forkSchedule.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-datadir-'))
afterAll(() => rmSync(dir, { recursive: true }))
let made = 0
function folder(): string {
  const path = join(dir, String(made++))
  mkdirSync(path)
  return path
}
const at = (last: string) => parseAddress(`0x${last.padStart(40, '0')}`)
const options: FixedOptions = {
  l1: 'memory',
  chainId: 901,
  l1ChainId: 900,
  blockTimeSec: 2,
  slotSec: 2,
  forks: forksUpTo('fjord', 2),
  accounts: [at('a1'), at('a2')],
  batcher: at('ba'),
}
const genesisTimeSec = 1_790_000_000
const genesis = { number: 0, hash: parseHash(`0x${'11'.repeat(32)}`) }
const chain = makeDevnetChain(options, { genesis, genesisTimeSec, portal: at('b0'), systemConfig: at('b1') })
const kept: KeptDevnet = { options, genesisTimeSec, chain }

it('devnet/datadir: reads the options and the chain that it wrote', () => {
  const path = join(dir, 'not/there/yet')
  expect(readDevnet(path)).toBeUndefined()
  writeDevnet(path, kept)
  const read = readDevnet(path)
  expect(read?.options).toEqual(options)
  expect(read?.genesisTimeSec).toBe(genesisTimeSec)
  expect(read?.chain?.config).toEqual(chain.config)
  expect(readdirSync(path)).toEqual(['devnet.json'])
})

it('devnet/datadir: removes a start that did not complete', () => {
  const path = folder()
  writeDevnet(path, { ...kept, chain: undefined })
  for (const name of Object.values(partFolders)) mkdirSync(join(path, name))
  writeFileSync(join(path, 'mine.txt'), "a user's file")
  expect(readDevnet(path)).toBeUndefined()
  expect(readdirSync(path)).toEqual(['mine.txt'])
})

it.each([
  ['is empty', ''],
  ['is truncated', '{"version":1,'],
  ['is of a later version', '{"version":2}'],
  ['lacks its options', '{"version":1,"genesisTimeSec":1}'],
  ['is a list', '[]'],
])('devnet/datadir: names a file that %s, and removes nothing (DEVNET_FILE_BAD)', (_what, text) => {
  const path = folder()
  writeFileSync(join(path, 'devnet.json'), text)
  mkdirSync(join(path, partFolders.l1))
  expect(() => readDevnet(path)).toThrow(
    expect.objectContaining({ code: 'DEVNET_FILE_BAD', message: expect.stringContaining(join(path, 'devnet.json')) }),
  )
  expect(existsSync(join(path, partFolders.l1))).toBe(true)
})

it('devnet/datadir: does not touch parts without the file (DEVNET_FILE_BAD)', () => {
  const path = folder()
  mkdirSync(join(path, partFolders.verifier))
  expect(() => readDevnet(path)).toThrow(
    expect.objectContaining({
      code: 'DEVNET_FILE_BAD',
      message: expect.stringContaining('the directory is not empty'),
      fix: expect.stringMatching(/^use another --datadir/),
    }),
  )
  expect(readdirSync(path)).toEqual([partFolders.verifier])
})

it.each<[string, Partial<FixedOptions>, string]>([
  ['chain id', { chainId: 7 }, '--chain-id is 901 there, not 7'],
  ['block time', { blockTimeSec: 1 }, '--block-time is 2 there, not 1'],
  ['fork', { forks: forksUpTo('canyon', 2) }, '--fork is {"canyon":0,"delta":0,"ecotone":2,"fjord":2} there, not {"canyon":0,"delta":0}'],
  ['number of accounts', { accounts: [at('a1')] }, '--accounts or --mnemonic is 2 from'],
  ['L1', { l1: 'anvil' }, '--l1 is memory there, not anvil'],
  ['slot and chain id', { slotSec: 1, chainId: 5 }, '--chain-id is 901 there, not 5; --l1-block-time is 2 there, not 1'],
])('devnet/datadir: names a different %s (OTHER_OPTIONS)', (_what, asked, says) => {
  expect(() => agreeWithKept('/data', options, asked)).toThrow(
    expect.objectContaining({ code: 'OTHER_OPTIONS', message: expect.stringContaining(says) }),
  )
})

it('devnet/datadir: accepts equal options and absent ones', () => {
  expect(agreeWithKept('/data', options, {})).toBeUndefined()
  expect(agreeWithKept('/data', options, { ...options })).toBeUndefined()
})

it('devnet/datadirLock: makes the directory for its owner alone', () => {
  const datadir = join(folder(), 'private')
  holdDatadir(datadir)[Symbol.dispose]()
  expect(statSync(datadir).mode & 0o777).toBe(0o700)
})

it('devnet/datadirLock: allows one devnet at a time (DEVNET_DATADIR_BUSY), in a writable directory only', () => {
  const path = join(dir, 'locked/deep')
  {
    using _held = holdDatadir(path)
    expect(() => holdDatadir(path)).toThrow(
      expect.objectContaining({ code: 'DEVNET_DATADIR_BUSY', message: expect.stringContaining(path) }),
    )
  }
  holdDatadir(path)[Symbol.dispose]()
  const file = join(folder(), 'file')
  writeFileSync(file, '')
  expect(() => holdDatadir(file)).toThrow(expect.objectContaining({ code: 'DEVNET_DATADIR_UNWRITABLE' }))
})

it('devnet/datadirLock: leaves no file in a directory without a devnet, except a file of another program', () => {
  const path = folder()
  holdDatadir(path)[Symbol.dispose]()
  expect(readdirSync(path)).toEqual([])
  const other = folder()
  writeFileSync(join(other, 'LOCK'), '')
  holdDatadir(other)[Symbol.dispose]()
  expect(readdirSync(other)).toEqual(['LOCK'])
  {
    using _held = holdDatadir(path)
    writeDevnet(path, kept)
  }
  expect(readdirSync(path).sort()).toEqual(['LOCK', 'devnet.json'])
})
