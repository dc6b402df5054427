/**
 * Probes: methods of yours that are called inside of methods that rules choose, with what they ask for.
 *
 * <pre>{@code
 * import io.jaywalk.probe.*;
 * import java.util.concurrent.atomic.LongAdder;
 *
 * @Probe(name = "slow-orders", maxCallsPerSecond = 20_000)
 * public class SlowOrders {
 *     private static final LongAdder SLOW = new LongAdder();
 *
 *     @OnReturn("include class name=com.acme.OrderService method name=place")
 *     public static void placed(@Argument(0) Object order, @Duration long nanos) {
 *         if (nanos > 50_000_000) {
 *             SLOW.increment();
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>A probe is one class that carries {@link io.jaywalk.probe.Probe @Probe}; its handlers are its {@code public static void} methods
 * that carry {@link io.jaywalk.probe.OnEntry @OnEntry}, {@link io.jaywalk.probe.OnReturn @OnReturn},
 * {@link io.jaywalk.probe.OnThrow @OnThrow}, or the annotation of a place within methods:
 * {@link io.jaywalk.probe.OnCall @OnCall}, {@link io.jaywalk.probe.OnCallReturn @OnCallReturn}, {@link io.jaywalk.probe.OnLine @OnLine},
 * {@link io.jaywalk.probe.OnRead @OnRead}, {@link io.jaywalk.probe.OnWrite @OnWrite}, {@link io.jaywalk.probe.OnAllocation @OnAllocation},
 * {@link io.jaywalk.probe.OnMonitorEnter @OnMonitorEnter}, {@link io.jaywalk.probe.OnMonitorEntered @OnMonitorEntered},
 * {@link io.jaywalk.probe.OnMonitorExit @OnMonitorExit}. Each parameter of a handler carries the annotation of what it is given:
 *
 * <table>
 * <caption>What a parameter can be given</caption>
 * <tr><th>annotation</th><th>type of the parameter</th><th>at</th></tr>
 * <tr><td>{@link io.jaywalk.probe.This @This}</td><td>Object</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Argument @Argument(n)}</td><td>Object, or the very primitive type</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Arguments @Arguments}</td><td>Object[]</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Returned @Returned}</td><td>Object, or the very primitive type</td><td>return, call-return</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Thrown @Thrown}</td><td>Throwable</td><td>throw</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Duration @Duration}</td><td>long</td><td>everywhere but entry</td></tr>
 * <tr><td>{@link io.jaywalk.probe.MethodName @MethodName}</td><td>String</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.RuleName @RuleName}</td><td>String</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.LineNumber @LineNumber}</td><td>int</td><td>everywhere but throw</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Receiver @Receiver}</td><td>Object</td><td>call, call-return, read, write</td></tr>
 * <tr><td>{@link io.jaywalk.probe.CallArgument @CallArgument(n)}</td><td>Object, or the very primitive type</td><td>call, call-return</td></tr>
 * <tr><td>{@link io.jaywalk.probe.TargetName @TargetName}</td><td>String</td><td>call, call-return, read, write, allocation</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Value @Value}</td><td>Object, or the very primitive type</td><td>read, write</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Allocated @Allocated}</td><td>Object</td><td>allocation of an array</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Lock @Lock}</td><td>Object</td><td>monitor-enter, monitor-entered</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Caller @Caller}</td><td>String</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.SpanId @SpanId}</td><td>long</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.TraceId @TraceId}</td><td>String</td><td>everywhere</td></tr>
 * <tr><td>{@link io.jaywalk.probe.Endpoint @Endpoint}</td><td>String</td><td>everywhere</td></tr>
 * </table>
 *
 * <p>A method of the probe with {@link io.jaywalk.probe.Event @Event} is an event in the recording each time that the probe calls it; its
 * parameters are its {@link io.jaywalk.probe.Field @Field}s.
 *
 * <p>{@code jaywalk probe check FILE} says whether a probe is understood, and {@code jaywalk probe check FILE APP.jar} which methods
 * it would take. The annotations are in class files alone: a probe that does not call the API needs no jaywalk.jar at run time.
 *
 * <p>A handler runs on the thread that called the method, inside of that call. It sees objects of the application while they are in
 * use: read, do not change them, and keep none of them, for a probe that holds an object keeps it from being collected. Classes of the
 * application are not seen from a probe, since several may have one name; that is why parameters are of type {@code Object}.
 */
package io.jaywalk.probe;
