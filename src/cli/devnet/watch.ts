import type { Devnet } from '#devnet/startDevnet'
import { type DevnetStatus, statusLine } from '#devnet/status'
import type { Io } from '../command.ts'
import type { LiveLine } from '../output.ts'

/** How the status is told: in place on a terminal, else a line now and then; as events; or not at all. */
export type WatchStyle = 'line' | 'events' | 'quiet'

const liveEveryMs = 500
const lineEveryMs = 10_000

const red = (text: string): string => `\u001b[31m${text}\u001b[0m`
const isBad = ({ agreement }: DevnetStatus): boolean => agreement.kind === 'disagrees'

/** Tells the status until disposed. */
export function watchStatus(io: Io, line: LiveLine, devnet: Pick<Devnet, 'status'>, style: WatchStyle): Disposable {
  let timer: Disposable | undefined
  const everyMs = style === 'line' && io.err.isTerminal ? liveEveryMs : lineEveryMs

  function tell(): void {
    const status = devnet.status()
    const text = statusLine(status)
    if (style === 'events') io.out.write(`${JSON.stringify({ event: 'status', ...status })}\n`)
    else if (io.err.isTerminal) line.show(isBad(status) ? red(text) : text)
    else io.err.write(`${text}\n`)
  }
  function again(): void {
    timer = io.clock.after(everyMs, () => {
      tell()
      again()
    })
  }
  if (style !== 'quiet') again()
  return {
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  }
}
