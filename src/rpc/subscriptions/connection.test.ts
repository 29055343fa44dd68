import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { ByteBudget } from '../server/body.ts'
import { ConnectionSlots } from '../server/connectionSlots.ts'
import { UnreadTotal } from '../server/unread.ts'
import { defaultWsLimits } from '../server/wsServer.ts'
import { Connection, type ConnectionDeps, type MessageSocket, type SocketCaller } from './connection.ts'

it('rpc/subscriptions/connection: a call that subscribes after its connection has closed starts no subscription', async () => {
  const calls: { readonly caller: SocketCaller; readonly answer: (text: string) => void }[] = []
  const deps: ConnectionDeps = {
    dispatcher: { answer: (_body, caller) => new Promise((answer) => calls.push({ caller, answer })) },
    ...{ budget: new ByteBudget(1_000_000), subscriptionBudget: new ByteBudget(1_000_000) },
    ...{ pendingSubscribers: new Set(), unreadTotal: new UnreadTotal({ log: silentLog }, 1_000_000) },
    ...{ clock: createManualClock(), log: silentLog },
  }
  const started: number[] = []
  for (const isClosed of [false, true]) {
    const emitter = new EventEmitter()
    const socket = Object.assign(emitter, {
      ...{ readyState: 1, OPEN: 1, isPaused: false, bufferedAmount: 0 },
      ...{ pause() {}, resume() {}, close() {}, terminate() {}, ping() {}, pong() {}, send() {} },
    }) as unknown as MessageSocket
    const slot = new ConnectionSlots(4).take('client', () => {}) ?? expect.fail()
    new Connection(socket, deps, defaultWsLimits, { bucket: undefined, slot }, () => {})
    emitter.emit('message', Buffer.from('{}'))
    const { caller, answer } = calls.pop() ?? expect.fail()
    if (isClosed) emitter.emit('close')
    answer(`"${caller.subscriptions.subscribe({ kind: 'newPendingTransactions' })}"`)
    await settle()
    started.push(deps.pendingSubscribers.size)
    deps.pendingSubscribers.clear()
  }
  expect(started).toEqual([1, 0])
})
