// Start and stop of a devnet as a process, with each L1: time from the command to the first sealed block and to its URLs, and from Ctrl-C to its end.
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { type Row, row } from '../format.ts'
import { devnetPorts } from './process.ts'

const rounds = 7

type Round = { readonly blockSec: number; readonly readySec: number; readonly answerSec: number; readonly stopSec: number }

async function startOnce(l1: string): Promise<Round> {
  const startMs = performance.now()
  const sinceSec = (): number => (performance.now() - startMs) / 1_000
  await using devnet = startCli(['devnet', '--l1', l1, '--quiet', '--json', '--log.level', 'info', '--log.format', 'json', ...devnetPorts])
  let blockSec = 0
  const sealed = devnet.until(/block sealed/).then(() => {
    blockSec = sinceSec()
  })
  const [, url = ''] = await devnet.until(/"rpc":"([^"]+)"/)
  const readySec = sinceSec()
  await sealed
  if (Number(await rpcCall(url, 'eth_blockNumber')) < 1) throw new Error('no block')
  const answerSec = sinceSec()
  const stopMs = performance.now()
  devnet.child.kill('SIGINT')
  const { code } = await devnet.ended()
  if (code !== 0) throw new Error(`the devnet ended with ${code}`)
  return { blockSec, readySec, answerSec, stopSec: (performance.now() - stopMs) / 1_000 }
}

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  const all: Record<string, Round[]> = { anvil: [], memory: [] }
  // the first start of a clone compiles everything
  await startOnce('memory')
  for (let round = 0; round < rounds; round++) for (const l1 of Object.keys(all)) all[l1]?.push(await startOnce(l1))
  for (const [l1, found] of Object.entries(all)) {
    const of = (what: string, part: keyof Round): Row =>
      row(
        `${what}, L1 ${l1}`,
        's',
        found.map((one) => one[part]),
      )
    rows.push(
      of('from the command to the first sealed block', 'blockSec'),
      of('from the command to its URLs', 'readySec'),
      of('from the command to the first block by JSON-RPC', 'answerSec'),
      of('from Ctrl-C to the end', 'stopSec'),
    )
  }
  return rows
}
