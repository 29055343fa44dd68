import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnvilL1Deps, type AnvilL1Options, startAnvilL1 } from '#devnet/anvil'
import { portalAddress } from '#devnet/l1Contracts'
import type { DevnetL1 } from '#devnet/ports'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { createLog } from '#lib/log'
import { anvilBinary } from '../../src/devnet/l1/anvilBinary.ts'
import { signed, signedBlob } from '../harness/chain/devnetTransactions.ts'
import { addressOf, devnetL1Options, provenBlob, sourceOf, user, viemReader } from '../harness/l1/devnetL1.ts'

const { signal } = new AbortController()
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'basalt-anvil-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const start = (options: Partial<AnvilL1Options> = {}, deps: Pick<AnvilL1Deps, 'log'> = {}): Promise<DevnetL1> =>
  startAnvilL1(
    { fetch, clock: systemClock, ...deps },
    { ...devnetL1Options, ...(options.datadir === undefined && { scratch: join(folder, 'scratch') }), ...options },
  )
const portOf = (url: string): string => new URL(url).port
const send = (l1: DevnetL1, raw: Uint8Array) => viemReader(l1).request({ method: 'eth_sendRawTransaction', params: [toHex(raw)] })

/** Processes of the L1 on a port: guard and anvil. */
function processesOf(port: string): readonly { pid: number; args: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args=']).toString().split('\n')
  const own = lines.filter((line) => line.includes(`--port ${port} `) && !line.includes('<defunct>'))
  return own.map((line) => ({ pid: Number.parseInt(line, 10), args: line.trim() }))
}

/** Waits until other processes have reached a state. */
async function until(isSo: () => boolean, what: string): Promise<void> {
  const endMs = systemClock.elapsedMs() + 10_000
  while (!isSo()) {
    if (systemClock.elapsedMs() > endMs) expect.fail(`not reached within 10 s: ${what}`)
    await systemClock.delay(20)
  }
}

/** Process id of anvil, or of the shell that guards it. */
function pidOf(l1: DevnetL1, which: 'anvil' | 'guard'): number {
  const found = processesOf(portOf(l1.rpcUrl)).find(({ args }) => args.includes('basalt-guard') === (which === 'guard'))
  return found?.pid ?? expect.fail(`no ${which}`)
}

it('devnet/anvil: ends anvil and its guard when the parent is killed (SIGKILL)', async () => {
  const parent = spawn(process.execPath, [join(import.meta.dirname, '../harness/process/anvilParent.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve) => parent.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())))
  const port = portOf(url)
  expect(processesOf(port)).toHaveLength(2)
  parent.kill('SIGKILL')
  await until(() => processesOf(port).length === 0, 'guard and anvil end')
  await expect(fetch(url)).rejects.toThrow()
})

it('devnet/anvil: stops anvil and its guard within two seconds', async () => {
  const l1 = await start()
  const port = portOf(l1.rpcUrl)
  const fromMs = systemClock.elapsedMs()
  await l1[Symbol.asyncDispose]()
  expect(systemClock.elapsedMs() - fromMs).toBeLessThan(2_000)
  expect(processesOf(port)).toEqual([])
})

it.each([
  ['in the given directory', (own: string) => ({ scratch: join(own, 'scratch') })],
  ['in the directory of its chain', (own: string) => ({ datadir: own })],
])('devnet/anvil: keeps temporary files %s, and deletes them at the next start', async (where, optionsOf) => {
  const own = join(folder, where)
  mkdirSync(join(own, 'scratch', 'of-before'), { recursive: true })
  await using l1 = await start(optionsOf(own))
  for (let block = 0; block < 3; block++) await l1.mine()
  await l1.reorg(2)
  expect(readdirSync(join(own, 'scratch'))).toEqual([expect.stringMatching(/^anvil-state-/)])
})

it('devnet/anvil: reports an unexpected exit, also from every later call (DEVNET_L1_ENDED)', async () => {
  await using l1 = await start()
  const port = portOf(l1.rpcUrl)
  process.kill(pidOf(l1, 'anvil'), 'SIGKILL')
  expect(await l1.ended).toMatchObject({ code: 'DEVNET_L1_ENDED', severity: 'fatal' })
  await expect(l1.mine()).rejects.toMatchObject({ code: 'DEVNET_L1_ENDED' })
  await expect(l1.head()).rejects.toMatchObject({ code: 'DEVNET_L1_ENDED' })
  await until(() => processesOf(port).length === 0, 'the guard ends')
})

it('devnet/anvil: ends anvil when its guard ends', async () => {
  await using l1 = await start()
  process.kill(pidOf(l1, 'guard'), 'SIGKILL')
  expect(await l1.ended).toMatchObject({ code: 'DEVNET_L1_ENDED' })
  await until(() => processesOf(portOf(l1.rpcUrl)).length === 0, 'anvil ends')
})

it('devnet/anvil: keeps blocks, receipts, nonces, balances and contracts in a directory over a restart', async () => {
  const datadir = join(folder, 'kept')
  const first = signed(user, 0n, { to: portalAddress, value: 5n })
  const blob = signedBlob(0n)
  const stateOf = async (l1: DevnetL1) => {
    using source = sourceOf(l1)
    const reader = viemReader(l1)
    const blocks = await Promise.all([1, 2, 3].map((number) => source.block(number, signal)))
    const receipt = await reader.getTransactionReceipt({ hash: first.hash })
    const balance = await reader.getBalance({ address: portalAddress })
    const nonce = await reader.getTransactionCount({ address: addressOf(user) })
    return { head: await l1.head(), genesis: l1.genesis, blocks, receipt, balance, nonce }
  }
  const before = await (async () => {
    await using l1 = await start({ datadir })
    await l1.mine()
    await send(l1, first.raw)
    await send(l1, blob.wrapped)
    await l1.mine()
    await l1.mine()
    return await stateOf(l1)
  })()
  expect(before).toMatchObject({ balance: 5n, nonce: 1, head: { number: 3 } })
  // the options of an existing chain have no effect: its genesis time stays the same
  await using l1 = await start({ datadir, genesisTimeSec: devnetL1Options.genesisTimeSec + 1_000 })
  expect(await stateOf(l1)).toEqual(before)
  expect(l1.genesisTimeSec).toBe(devnetL1Options.genesisTimeSec)
  const genesis = await fetch(`${l1.beaconUrl}/eth/v1/beacon/genesis`)
  expect(await genesis.json()).toMatchObject({ data: { genesis_time: String(l1.genesisTimeSec) } })
  const kept = await fetch(`${l1.beaconUrl}/eth/v1/beacon/blobs/2`)
  expect(((await kept.json()) as { data: string[] }).data).toEqual([toHex(provenBlob.blob)])
  await expect(l1.reorg(1)).rejects.toMatchObject({ code: 'DEVNET_L1_DEPTH' })
  await send(l1, signed(user, 1n, { to: portalAddress, value: 1n }).raw)
  await l1.mine()
  expect(await l1.head()).toMatchObject({ number: 4, timestamp: before.head.timestamp + 2 })
  expect(await viemReader(l1).getBalance({ address: portalAddress })).toBe(6n)
  await l1.reorg(1)
  expect(await viemReader(l1).getBalance({ address: portalAddress })).toBe(5n)
  using source = sourceOf(l1)
  expect((await source.block(4, signal))?.ref.parentHash).toBe(before.head.hash)
}, 90_000)

it('devnet/anvil: rejects a directory whose chain has other options, or is unreadable (DEVNET_L1_STATE)', async () => {
  const datadir = join(folder, 'others')
  {
    await using l1 = await start({ datadir })
    await l1.mine()
  }
  const others: readonly [Partial<AnvilL1Options>, RegExp][] = [
    [{ slotSec: 3 }, /its slotSec is 2, expected 3/],
    [{ chainId: 901 }, /its chainId is 900, expected 901/],
    [{ contracts: devnetL1Options.contracts.map((it) => ({ ...it, code: it.code.slice(1) })) }, /its contracts differ/],
  ]
  for (const [other, message] of others) {
    await expect(start({ datadir, ...other })).rejects.toMatchObject({ code: 'DEVNET_L1_STATE', message: expect.stringMatching(message) })
  }
  writeFileSync(join(datadir, 'chain.json'), '{"chainId":')
  await expect(start({ datadir })).rejects.toMatchObject({ code: 'DEVNET_L1_STATE', message: expect.stringMatching(/it is unreadable/) })
})

it.each(['', '{"block":'])('devnet/anvil: continues from the previous save when a kill left %j', async (left) => {
  const datadir = join(folder, `killed${left.length}`)
  const path = join(datadir, 'anvil-state.json')
  {
    await using l1 = await start({ datadir })
    await l1.mine()
  }
  const saved = readFileSync(path)
  {
    await using l1 = await start({ datadir })
    await l1.mine()
    await until(() => existsSync(`${path}.last`), 'the state is copied')
    process.kill(pidOf(l1, 'anvil'), 'SIGKILL')
    await l1.ended
  }
  writeFileSync(path, left)
  const logged: string[] = []
  await using l1 = await start({ datadir }, { log: createLog('info', { write: (line) => void logged.push(line) }) })
  expect(await l1.head()).toMatchObject({ number: 1 })
  expect(logged).toEqual([expect.stringContaining('continuing from the save before it')])
  expect(readFileSync(`${path}.last`)).toEqual(saved)
  expect(readFileSync(`${path}.broken`, 'utf8')).toBe(left)
})

it('devnet/anvil: a kept chain is saved at the end, when that takes longer than five seconds too', async () => {
  const datadir = join(folder, 'slow')
  const l1 = await start({ datadir })
  await l1.mine()
  const pid = pidOf(l1, 'anvil')
  process.kill(pid, 'SIGSTOP')
  const stopped = l1[Symbol.asyncDispose]()
  await systemClock.delay(9_000)
  process.kill(pid, 'SIGCONT')
  await stopped
  await using again = await start({ datadir })
  expect(await again.head()).toMatchObject({ number: 1 })
})

it('devnet/anvil: kills anvil when it has not ended in its time', async () => {
  const l1 = await start({ datadir: join(folder, 'stopped'), stopSec: 1 })
  process.kill(pidOf(l1, 'anvil'), 'SIGSTOP')
  const fromMs = systemClock.elapsedMs()
  await l1[Symbol.asyncDispose]()
  expect(systemClock.elapsedMs() - fromMs).toBeLessThan(20_000)
  expect(processesOf(portOf(l1.rpcUrl))).toEqual([])
})

it('devnet/anvil: reports a truncated state file in one line with a remedy (DEVNET_L1_STATE)', async () => {
  const datadir = join(folder, 'torn')
  {
    await using l1 = await start({ datadir })
    await l1.mine()
  }
  const path = join(datadir, 'anvil-state.json')
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
  const refused = await start({ datadir }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'DEVNET_L1_STATE', data: { path }, fix: expect.stringContaining('data directory') })
  expect(String((refused as Error).message)).not.toContain('\n')
})

it('devnet/anvil: reports a port in use (DEVNET_L1_PORT)', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await expect(start({ port })).rejects.toMatchObject({ code: 'DEVNET_L1_PORT', data: { port } })
  await new Promise((resolve) => server.close(resolve))
})

it('devnet/anvil: reports a platform without anvil (DEVNET_L1_MISSING) and a binary that does not start (DEVNET_L1_START)', async () => {
  expect(() => anvilBinary('sunos', 'mips')).toThrow(expect.objectContaining({ code: 'DEVNET_L1_MISSING', severity: 'fatal' }))
  await expect(start({ binary: '/nowhere/anvil' })).rejects.toMatchObject({ code: 'DEVNET_L1_START' })
  await expect(start({ binary: '/bin/false' })).rejects.toMatchObject({ code: 'DEVNET_L1_START' })
})
