import { closeEnoughMs, longestHoldPeriods, mostTrialTokens, trialMs } from "./buckets.js";

/**
 * What Redis runs, each as one step on its own clock, so that clocks of machines do not matter. A
 * bucket is a hash: `empty`, the time at which it was empty, and `lesson`. The same rules as
 * `takeFrom` and `holdBack`.
 */
const clock = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local period = tonumber(ARGV[1])
local empty = tonumber(redis.call('HGET', KEYS[1], 'empty') or '') or now
local longest = now + ${longestHoldPeriods} * period
`;

const keep = (value: string): string => `
redis.call('HSET', KEYS[1], 'empty', string.format('%.3f', ${value}))
redis.call('PEXPIRE', KEYS[1], ${24 * 60 * 60_000})
`;

/** ARGV: period, capacity, margin, who would make a trial. Gives wait, tokens before, lesson, trial. */
export const takeScript = `${clock}
if empty > longest then empty = longest end
local tokens = (now - empty) / period
local wait = period - (now - empty)
local lesson = redis.call('HGET', KEYS[1], 'lesson') or ''
if wait > ${closeEnoughMs} then
local trial = '0'
if ARGV[4] ~= '' and tokens < ${mostTrialTokens} then
local by = redis.call('HGET', KEYS[1], 'by') or ''
local at = tonumber(redis.call('HGET', KEYS[1], 'at') or '') or 0
if by == '' or by == ARGV[4] or math.abs(now - at) > ${trialMs} then
redis.call('HSET', KEYS[1], 'by', ARGV[4], 'at', string.format('%.3f', now))
trial = '1'
end
end
${keep("empty")}
return { string.format('%.3f', wait), string.format('%.6f', tokens), lesson, trial }
end
local from = math.max(empty, now - tonumber(ARGV[2]) * period)
${keep("from + period + tonumber(ARGV[3])")}
return { '0', string.format('%.6f', tokens), lesson, '0' }
`;

/** ARGV: period, refund (milliseconds to give back), wait. */
export const holdScript = `${clock}
local held = math.max(empty - tonumber(ARGV[2]), now - period + tonumber(ARGV[3]))
${keep("math.min(longest, held)")}
return 'OK'
`;

/** ARGV: lesson. */
export const learnScript = `
redis.call('HSET', KEYS[1], 'lesson', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${24 * 60 * 60_000})
return 'OK'
`;
