import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeProcess } from '../nodeProcess.ts'
import type { PeerChain } from './chain.ts'
import { startOtherClient } from './otherClient.ts'
import { hashFrom, metricAt, type Participant, peersAt, selfAt, unsafeHeadAt } from './participant.ts'

/** Returns the flags for a new identity and for ports on loopback. op-node and base-consensus share them. */
export function identityFlags({ folder }: PeerChain, name: string, port: number): readonly string[] {
  const keyFile = join(folder, `${name}.key`)
  writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
  const ports = ['listen', 'advertise'].flatMap((kind) => [
    ...[`--p2p.${kind}.ip`, '127.0.0.1', `--p2p.${kind}.tcp`, String(port), `--p2p.${kind}.udp`, String(port)],
  ])
  return [...ports, '--p2p.priv.path', keyFile]
}

type ParticipantSpec = {
  /** of the program */
  readonly client: string
  readonly path: string
  readonly args: readonly string[]
  readonly name: string
  /** of its peers */
  readonly port: number
  readonly folder: string
  /** execution half that it drives */
  readonly engine: NodeProcess
  readonly rollup: string
  readonly metrics: string
}

/** Starts another project's consensus client. Its rollup port has the methods of op-node. */
export async function startParticipant({
  client,
  name,
  port,
  folder,
  engine,
  rollup,
  metrics,
  ...program
}: ParticipantSpec): Promise<Participant> {
  const answers = async (): Promise<boolean> => (await selfAt(rollup)).peerId !== ''
  const logFile = join(folder, `${name}.log`)
  const process = await startOtherClient({ ...program, name: client, cwd: folder, logFile, answers })
  const { peerId, enr } = await selfAt(rollup)
  return {
    ...{ name, kind: 'theirs', peerId, enr, port, rollup, tail: process.tail },
    address: `/ip4/127.0.0.1/tcp/${port}/p2p/${peerId}`,
    unsafeHead: () => unsafeHeadAt(rollup),
    hashAt: (number) => hashFrom(engine.url('http'), number),
    peers: () => peersAt(rollup),
    metric: (metric, labels) => metricAt(metrics, metric, labels),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  }
}
