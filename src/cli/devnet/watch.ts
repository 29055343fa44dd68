import type { Devnet } from '#devnet/startDevnet'
import { type DevnetStatus, statusLine } from '#devnet/status'
import type { Io } from '../command.ts'
import type { LiveLine } from '../output.ts'

/** Form of the status: a line (rewritten in place on a terminal, else every ten seconds), events, or none. */
export type WatchStyle = 'line' | 'events' | 'quiet'

const liveEveryMs = 500
const lineEveryMs = 10_000

const red = (text: string): string => `\u001b[31m${text}\u001b[0m`
const isBad = ({ agreement }: DevnetStatus): boolean => agreement.kind === 'disagrees'

/** Writes the status until disposed. */
export function watchStatus(io: Io, line: LiveLine, devnet: Pick<Devnet, 'status'>, style: WatchStyle): Disposable {
  let timer: Disposable | undefined
  const everyMs = style === 'line' && io.err.isTerminal ? liveEveryMs : lineEveryMs

  function write(): void {
    const status = devnet.status()
    const text = statusLine(status)
    if (style === 'events') io.out.write(`${JSON.stringify({ event: 'status', ...status })}\n`)
    else if (io.err.isTerminal) line.show(isBad(status) ? red(text) : text)
    else io.err.write(`${text}\n`)
  }
  function again(): void {
    timer = io.clock.after(everyMs, () => {
      write()
      again()
    })
  }
  if (style !== 'quiet') again()
  return {
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  }
}
