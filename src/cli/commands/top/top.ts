import { type NodeSample, sampleOf } from '#monitor/sample'
import type { CommandBody, Io } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import type { FlagName } from '../../flags.ts'
import { addressFlags, type NodeAddress, nodeAddressOf } from '../../localNode/nodeAddress.ts'
import { checkReached, readNode } from '../../localNode/readings.ts'
import { sendByHttp } from '../../localNode/sendByHttp.ts'
import { readFlags } from '../../readFlags.ts'
import { openScreen } from '../../screen.ts'
import type { Terminal } from '../../terminal.ts'
import { History } from './history.ts'
import { keyOf } from './keys.ts'
import { panels } from './panels.ts'
import { topView } from './topView.ts'

const names = [...addressFlags, 'top.interval', 'json'] as const satisfies readonly FlagName[]

const usualIntervalMs = 1_000

/**
 * Reads a node again and again. The first sample has no rates.
 * @throws Fault NODE_SILENT (fatal) when nothing answers the first time; the reason of `signal` when it is aborted
 */
async function* samples(io: Io, address: NodeAddress, intervalMs: number, signal: AbortSignal): AsyncGenerator<NodeSample> {
  const read = (): ReturnType<typeof readNode> => readNode({ fetch: sendByHttp, clock: io.clock, signal }, address)
  let before = await read()
  checkReached(before, address)
  yield sampleOf(before)
  while (true) {
    await io.clock.delay(intervalMs, signal)
    const readings = await read()
    yield sampleOf(readings, before)
    before = readings
  }
}

/** Prints one sample, or one after each interval. */
async function printSamples(io: Io, address: NodeAddress, intervalMs: number | undefined): Promise<void> {
  let isFirst = true
  for await (const sample of samples(io, address, intervalMs ?? usualIntervalMs, io.signal)) {
    if (!isFirst) io.out.write(`${JSON.stringify(sample)}\n`)
    if (!isFirst && intervalMs === undefined) return
    isFirst = false
  }
}

/** Shows samples on the terminal until a key ends it. */
async function showSamples(io: Io, terminal: Terminal, address: NodeAddress, intervalMs: number): Promise<void> {
  const quit = new AbortController()
  const signal = AbortSignal.any([quit.signal, io.signal])
  const source = samples(io, address, intervalMs, signal)
  const { value: first } = await source.next()
  const history = new History()
  let sample: NodeSample = first
  let selected = 0
  using screen = openScreen(terminal, io.out)
  const draw = (): void => screen.draw(topView(sample, history, selected, screen.size))
  const onKeys = (text: string): void => {
    const key = keyOf(text)
    if (key?.kind === 'quit') quit.abort()
    if (key === undefined || key.kind === 'quit') return
    selected = key.kind === 'panel' ? key.at : (selected + key.by + panels.length) % panels.length
    draw()
  }
  using _keys = terminal.onKeys(onKeys, () => quit.abort())
  using _resize = terminal.onResize(draw)
  draw()
  try {
    for await (const next of source) {
      sample = next
      history.add(next)
      draw()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

export const top: CommandBody = {
  flags: names,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const address = nodeAddressOf(given, io.env)
    const intervalMs = given['top.interval']
    if (given.json) await printSamples(io, address, intervalMs)
    else if (io.terminal) await showSamples(io, io.terminal, address, intervalMs ?? usualIntervalMs)
    else throw cliFault('BAD_USAGE', { problem: 'top shows a view on a terminal, and input or output is not a terminal: use --json' })
    return exitCodes.done
  },
}
