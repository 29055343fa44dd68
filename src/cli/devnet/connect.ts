import { connectDevnet, type RemoteDevnet } from '#devnet/remoteDevnet'
import type { Io } from '../command.ts'
import { cliFault } from '../faults.ts'

/** Connects to the devnet with this control port. @throws Fault BAD_FLAG, DEVNET_NOT_RUNNING (fatal) */
export async function connect(io: Io, port: number | 'off'): Promise<RemoteDevnet> {
  if (port === 'off') throw cliFault('BAD_FLAG', { flag: 'control.port', value: port, expected: 'an integer from 0 to 65535' })
  return connectDevnet({ fetch, clock: io.clock, signal: io.signal }, `http://127.0.0.1:${port}`)
}
