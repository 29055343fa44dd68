import { createServer } from 'node:net'
import { type CliProcess, type Ended, rpcCall, startCli } from '#test/harness/process/cliProcess'
import type { DevnetFacts } from '../../src/devnet/control.ts'
import type { DevnetAccount } from '../../src/devnet/ports.ts'
import type { DevnetStatus } from '../../src/devnet/status.ts'
import { eventually } from '../nodeProcess.ts'

export type L1Kind = 'memory' | 'anvil'
export type Started = DevnetFacts & { readonly accounts: readonly DevnetAccount[] }

/** `basalt devnet --json` as a process. */
export interface DevnetProcess extends AsyncDisposable {
  readonly cli: CliProcess
  readonly started: DevnetFacts
  /** milliseconds from its start to the event `started`, and to block 1 */
  readonly startMs: number
  readonly firstBlockMs: number
  status(): Promise<DevnetStatus>
  control(method: string, ...params: readonly unknown[]): Promise<unknown>
  /** Sends Ctrl-C. @returns its exit, and the time until then */
  stop(): Promise<{ readonly ended: Ended; readonly stopMs: number }>
}

const portFlags = ['http.port', 'ws.port', 'rollup.port', 'l1.port', 'verifier.port', 'verifier.ws-port', 'publisher.port', 'control.port']
export const freePorts: readonly string[] = portFlags.flatMap((flag) => [`--${flag}`, '0'])

/** Ports that `freePort` chooses from: below those that systems give to outgoing connections, so that none takes the port before its server does. */
const [lowestPort, highestPort] = [20_000, 32_000]
const given = new Set<number>()

/** Returns a port of loopback that is free and was not returned before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort))
    if (given.has(port)) continue
    given.add(port)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise<void>((resolve) => server.close(() => resolve()))
    return port
  }
}

/** Starts a devnet on free ports, and waits for its first block. */
export async function startDevnetProcess(kind: L1Kind, args: readonly string[] = []): Promise<DevnetProcess> {
  const port = await freePort()
  const beganMs = performance.now()
  const cli = startCli(['devnet', '--json', '--l1', kind, ...freePorts, '--http.port', String(port), ...args])
  try {
    let firstBlockMs = 0
    const hasBlock = async (): Promise<boolean> => Number(await rpcCall(`http://127.0.0.1:${port}`, 'eth_blockNumber')) > 0
    const firstBlock = eventually('the first block', 60_000, hasBlock, 10).then(() => {
      firstBlockMs = performance.now() - beganMs
    })
    firstBlock.catch(() => {})
    const [line] = await cli.until(/^\{"event":"started".*\}$/m)
    const startMs = performance.now() - beganMs
    await firstBlock
    const started = JSON.parse(line) as DevnetFacts
    const status = async (): Promise<DevnetStatus> => (await rpcCall(started.urls.control, 'devnet_status')) as DevnetStatus
    return {
      cli,
      started,
      startMs,
      firstBlockMs,
      status,
      control: (method, ...params) => rpcCall(started.urls.control, method, params),
      async stop() {
        const fromMs = performance.now()
        cli.child.kill('SIGINT')
        const ended = await cli.ended()
        return { ended, stopMs: performance.now() - fromMs }
      },
      [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose](),
    }
  } catch (error) {
    await cli[Symbol.asyncDispose]()
    throw error
  }
}

/** Returns whether a server still listens at a URL. */
export async function isServed(url: string): Promise<boolean> {
  return fetch(url, { method: 'POST', body: '{}' }).then(
    () => true,
    () => false,
  )
}

/** Waits until the verifier has derived a block beyond this one and agrees. */
export async function agreesBeyond(devnet: DevnetProcess, block: number, timeoutMs: number): Promise<void> {
  await eventually(`the verifier agrees beyond block ${block}`, timeoutMs, async () => {
    const { agreement, verifier } = await devnet.status()
    if (agreement.kind === 'disagrees') throw new Error(`the verifier disagrees: ${JSON.stringify(agreement)}`)
    return verifier.safe > block && agreement.kind === 'agrees' && (agreement.compared ?? 0) > block
  })
}
